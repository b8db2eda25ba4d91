// What the README and .env.example say of the configuration, printed from its records.
import { VARIABLES } from '../../src/config.ts';

const BEGIN = '<!-- config:begin -->';
const END = '<!-- config:end -->';

function inText(fallback: unknown): string {
  return Array.isArray(fallback) ? fallback.join(',') : String(fallback ?? '');
}

function configTable(): string {
  const rows = Object.entries(VARIABLES).map(([name, { fallback, words }]) => {
    const text = inText(fallback);
    return `| \`${name}\` | ${text === '' ? '' : `\`${text}\``} | ${words} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

/** The README with its table of the configuration as it must be; undefined if it has no place for one. */
export function withConfigTable(readme: string): string | undefined {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin === -1 || end < begin) return undefined;
  return `${readme.slice(0, begin + BEGIN.length)}\n${configTable()}\n${readme.slice(end)}`;
}

export function envExample(): string {
  const entries = Object.entries(VARIABLES).map(
    ([name, { fallback, words }]) => `# ${words.replaceAll('`', '')}\n#${name}=${inText(fallback)}\n`,
  );
  return `# Every setting with its default; remove the # where you want another value.\n\n${entries.join('\n')}`;
}
