// Generates what the README and .env.example say about configuration and retries from the code that defines these.
import { VARIABLES } from '../../src/config.ts';
import { retryTable } from '../../src/webhooks/schedule.ts';

function inText(fallback: unknown): string {
  return Array.isArray(fallback) ? fallback.join(',') : String(fallback ?? '');
}

function configTable(): string {
  const rows = Object.entries(VARIABLES).map(([name, { fallback, description }]) => {
    const text = inText(fallback);
    return `| \`${name}\` | ${text === '' ? '' : `\`${text}\``} | ${description} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

function withSection(readme: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`README.md has no ${begin} … ${end}`);
  return `${readme.slice(0, from + begin.length)}\n${text}\n${readme.slice(to)}`;
}

/** Returns the README with its generated tables as they must be. */
export function withTables(readme: string): string {
  return withSection(withSection(readme, 'config', configTable()), 'schedule', retryTable());
}

export function envExample(): string {
  const entries = Object.entries(VARIABLES).map(
    ([name, { fallback, description }]) => `# ${description.replaceAll('`', '')}\n#${name}=${inText(fallback)}\n`,
  );
  return `# Every setting with its default. Copy this file to .env and uncomment what you want to change.
# docker compose reads .env by itself; it ignores DATABASE_URL, HOST and PORT, and also reads POSTGRES_PASSWORD and PUBLISH.
# For npm start and sps, load it first: set -a; . ./.env; set +a (quote values that contain &)\n\n${entries.join('\n')}`;
}
