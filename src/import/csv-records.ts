// Lines → CSV records. Blank lines are skipped. A quote opened by mistake would swallow everything up to the next quote
// or the end of the file. So if what it opens is not a record, or has a different number of cells than the first
// record, only its first line is given up, and reading resumes at the second.
import { isUtf8 } from 'node:buffer';
import { parse } from 'csv-parse/sync';
import { counted } from '../lib/counted.ts';
import { type FaultyEntry, NOT_UTF8, TOO_LONG, unreadableEntry } from './entry.ts';
import { type Line, MAX_LINE_BYTES } from './lines.ts';

const QUOTE = 0x22;
const BLANKS: readonly number[] = [0x20, 0x09];
const LF = Buffer.from('\n');
const CRLF = Buffer.from('\r\n');

/** `line` is the number of its first line. */
export type CsvRecord = { line: number; cells: string[] } | FaultyEntry;

function isBlank({ bytes }: Line): boolean {
  return bytes?.every((byte) => BLANKS.includes(byte)) ?? false;
}

function opensQuote(bytes: Buffer): boolean {
  let isOpen = false;
  for (let at = bytes.indexOf(QUOTE); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) isOpen = !isOpen;
  return isOpen;
}

/** Hands csv-parse single records, and only those with quotes: its stream swallows what follows a bad one. */
function parseCells(text: string): string[] | undefined {
  if (!text.includes('"')) return text.split(',');
  try {
    const [cells, ...others] = parse(text, { relax_column_count: true });
    return others.length === 0 ? cells : undefined;
  } catch {
    return undefined;
  }
}

function readRecord(lines: readonly Line[], width: number | undefined): CsvRecord {
  const [{ number, bytes: givenUp }] = lines as [Line];
  const parts = lines.flatMap(({ bytes, hadReturn }) => (bytes ? [bytes, hadReturn ? CRLF : LF] : []));
  const bytes = Buffer.concat(parts.slice(0, -1));
  if (!isUtf8(bytes)) return unreadableEntry(number, NOT_UTF8, givenUp);
  const cells = parseCells(bytes.toString());
  if (!cells) return unreadableEntry(number, 'The quotes of the record do not match up.', givenUp);
  if (lines.length === 1 || width === undefined || cells.length === width) return { line: number, cells };
  const fault = `Read with its quotes, the record would span ${lines.length} lines and have ${counted(cells.length, 'cell', 'cells')}; the header has ${width}.`;
  return unreadableEntry(number, fault, givenUp);
}

function tooLong({ number, bytes }: Line): CsvRecord {
  return unreadableEntry(number, bytes ? 'A quote in the record is not closed within 1 MiB.' : TOO_LONG, bytes);
}

/**
 * Returns a function that takes lines and returns the records they complete; with `isEnd`, also what is still
 * incomplete.
 */
export function createRecordSplitter(): (lines: readonly Line[], isEnd: boolean) => CsvRecord[] {
  let waiting: Line[] = [];
  let isOpen = false;
  let size = 0;
  let width: number | undefined;

  function addLine(line: Line): void {
    waiting.push(line);
    size += line.bytes?.length ?? MAX_LINE_BYTES + 1;
    if (line.bytes && opensQuote(line.bytes)) isOpen = !isOpen;
  }
  /** Turns the waiting lines into a record, and also returns the lines after the first if they did not form one. */
  function endRecord(): { record: CsvRecord; rest: Line[] } {
    const [first] = waiting as [Line];
    const isTooLong = size > MAX_LINE_BYTES;
    const record = isTooLong ? tooLong(first) : readRecord(waiting, width);
    if ('cells' in record) width ??= record.cells.length;
    const rest = 'cells' in record ? [] : waiting.slice(1);
    waiting = [];
    isOpen = false;
    size = 0;
    return { record, rest };
  }

  return (lines, isEnd) => {
    const records: CsvRecord[] = [];
    /** In reverse order: the next line is the last element. */
    const ahead = lines.toReversed();
    for (;;) {
      const line = ahead.pop();
      if (line && waiting.length === 0 && isBlank(line)) continue;
      if (line) addLine(line);
      else if (!isEnd || waiting.length === 0) return records;
      if (line && isOpen && size <= MAX_LINE_BYTES) continue;
      const { record, rest } = endRecord();
      records.push(record);
      for (const one of rest.toReversed()) ahead.push(one);
    }
  };
}
