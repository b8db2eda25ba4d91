// The table of results, and the file that it is written to.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';

/** A row of the targets. */
export interface Row {
  id: string;
  work: string;
  measured: string;
  against: string;
  ratio?: number;
  goal: string;
  /** Undefined if there is no goal. */
  isReached?: boolean;
}

const HEADS = ['#', 'Work', 'Measured', 'Held against', 'Ratio', 'Goal', 'Reached'];

function cells({ id, work, measured, against, ratio, goal, isReached }: Row): string[] {
  const reached = isReached === undefined ? '–' : isReached ? 'yes' : '**no**';
  return [id, work, measured, against, ratio === undefined ? '–' : ratio.toPrecision(3), goal, reached];
}

function toMarkdown(rows: readonly Row[]): string {
  const lines = [HEADS, HEADS.map(() => '---'), ...rows.map(cells)];
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
}

export function toText(rows: readonly Row[]): string {
  const lines = [HEADS, ...rows.map(cells)];
  const widths = HEADS.map((_, column) => Math.max(...lines.map((line) => (line[column] as string).length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** Describes what was run, when and where. */
export function describeRun(postgres: string): string[] {
  const [cpu] = cpus();
  const changed =
    git('status', '--porcelain', '--', '../src', '../migrations') === '' ? '' : ' with uncommitted changes';
  return [
    `Commit: ${git('rev-parse', 'HEAD')}${changed}`,
    `When: ${new Date().toISOString()}`,
    `Machine: ${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()} ${arch()}`,
    `Node.js ${process.version}; PostgreSQL ${postgres}`,
  ];
}

export function writeResults(
  file: URL,
  { facts, rows, notes }: { facts: string[]; rows: readonly Row[]; notes: string[] },
): void {
  const text = [
    '# Results of the benchmark',
    '',
    'Written by `npm run bench`; how each row is measured is in docs/performance.md. Server, database, references and load generator',
    'share the machine; every figure stands beside its reference from the same run.',
    '',
    ...facts.map((fact) => `- ${fact}`),
    '',
    toMarkdown(rows),
    '',
    ...notes.map((note) => `- ${note}`),
    '',
  ];
  writeFileSync(file, text.join('\n'));
}

export function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString('en')}/s`;
}

export function inMs(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
