// Reads CSV (RFC 4180, comma-separated, with a header line) into cells keyed by column name.
import { counted } from '../lib/counted.ts';
import { OperatorError } from '../operator-error.ts';
import { createRecordSplitter } from './csv-records.ts';
import { type Entry, unreadableEntry } from './entry.ts';
import type { Line } from './lines.ts';

export type Cells = Record<string, string>;

export interface CsvForm {
  /** Makes the value of an entry from its cells. */
  toValue: (cells: Cells) => unknown;
  /** Returns the full name of the column with this name, or undefined if it is not read. */
  columnOf: (name: string) => string | undefined;
  /** Called once with the names of the columns that are not read. */
  onUnknownColumns?: (names: readonly string[]) => void;
}

const MAX_SHOWN_CHARACTERS = 100;

/** Refuses other encodings and line endings, before the first line is read as a header. */
function checkEncoding(first: Line | undefined): void {
  // In UTF-16, one byte of each character of a header is 0.
  if (first?.bytes?.includes(0))
    throw new OperatorError('The CSV must be in UTF-8; this file is in UTF-16 or is not text.');
  // The CR of a CRLF has already been stripped together with its LF.
  if (!first?.bytes?.includes('\r')) return;
  throw new OperatorError('The lines of the CSV end in CR alone; they must end in LF or CRLF.');
}

function readHeader(cells: readonly string[], { columnOf, onUnknownColumns }: CsvForm): readonly string[] {
  const names = cells.map((cell) => cell.trim());
  const columns = names.map((name) => columnOf(name));
  if (columns.every((column) => column === undefined)) {
    const shown = JSON.stringify(names.join(',').slice(0, MAX_SHOWN_CHARACTERS));
    throw new OperatorError(
      `The first line of the CSV has no known column (${shown}): it must name the columns, in lower case and separated by commas.`,
    );
  }
  // Columns without a name are ignored, like other unknown ones.
  const full = names.map((name, index) => columns[index] ?? name);
  const lastAt = new Map(full.map((name, index) => [name, index]));
  const twice = full.find((name, index) => name !== '' && lastAt.get(name) !== index);
  if (twice !== undefined) throw new OperatorError(`The CSV has the column ${JSON.stringify(twice)} twice.`);
  onUnknownColumns?.(names.filter((name, index) => name !== '' && columns[index] === undefined));
  return names;
}

function toCells(names: readonly string[], cells: readonly string[]): Cells {
  return Object.fromEntries(names.map((name, index) => [name, cells[index] as string]));
}

/** Yields the entries of a CSV. Throws an OperatorError if the header cannot be used. */
export async function* readCsv(groups: AsyncIterable<Line[]>, form: CsvForm): AsyncGenerator<Entry[]> {
  const split = createRecordSplitter();
  let names: readonly string[] | undefined;

  function readEntries(lines: readonly Line[], isEnd: boolean): Entry[] {
    if (!names) checkEncoding(lines[0]);
    const records = split(lines, isEnd);
    if (!names) {
      const header = records.shift();
      if (!header) return [];
      if (!('cells' in header))
        throw new OperatorError(
          `The first line of the CSV is not a header: ${header.fault} Lines must end in LF or CRLF.`,
        );
      names = readHeader(header.cells, form);
    }
    return records.map((record) => toEntry(record, names as readonly string[]));
  }

  function toEntry(record: ReturnType<typeof split>[number], columns: readonly string[]): Entry {
    if (!('cells' in record)) return record;
    const { line, cells } = record;
    if (cells.length === columns.length) return { line, value: form.toValue(toCells(columns, cells)) };
    const fault = `The record has ${counted(cells.length, 'cell', 'cells')}; the header has ${columns.length}.`;
    return unreadableEntry(line, fault, Buffer.from(cells.join(',')));
  }

  for await (const lines of groups) yield readEntries(lines, false);
  yield readEntries([], true);
}
