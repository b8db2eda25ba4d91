// Formats rows as a small table for people.
import { harmless } from './harmless.ts';

type Cell = string | number | boolean | null | undefined | readonly string[];

function show(cell: Cell): string {
  if (cell === null || cell === undefined) return '-';
  return harmless(Array.isArray(cell) ? cell.join(',') : String(cell));
}

/** Returns a header line and a line per row; columns are named after their members. */
export function formatTable<Row extends object>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
): string {
  if (rows.length === 0) return '(none)';
  const lines = [columns, ...rows.map((row) => columns.map((column) => show(row[column] as Cell)))];
  // Not Math.max of all lines: that many arguments could overflow the stack.
  const widths = columns.map((_, index) =>
    lines.reduce((width, line) => Math.max(width, (line[index] as string).length), 0),
  );
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Returns the members of one object, a line each. */
export function formatMembers(members: object): string {
  const width = Math.max(...Object.keys(members).map((name) => name.length));
  return Object.entries(members)
    .map(([name, value]) => `${name.padEnd(width)}  ${show(value as Cell)}`)
    .join('\n');
}
