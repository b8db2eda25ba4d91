// Entries → batches that are written together: records that passed their check, and those that did not.
import type { FieldError } from '../errors.ts';
import type { Entry } from './entry.ts';
import { type Reject, toReason } from './rejects.ts';

/** Large enough that statements cost little per record, small enough for flat memory and short locks. */
const MOST_RECORDS = 20_000;
/** The first batch may meet empty tables, of which the planner knows nothing. */
const FIRST_RECORDS = 1_000;
const MOST_BYTES = 16 * 1024 * 1024;

export type Parse<T> = (value: unknown) => { record: T } | { errors: FieldError[] };

export interface Item<T> {
  line: number;
  record: T;
  /** What it was made of, for the rejects. It shares its texts with the record: the line would take more memory. */
  value: unknown;
}

export interface Batch<T> {
  items: Item<T>[];
  rejects: Reject[];
  /** Where in the file the batch ends. */
  endBytes: number;
}

function judge<T>(entry: Entry, parse: Parse<T>, { items, rejects }: Batch<T>): void {
  const { line } = entry;
  if ('fault' in entry) {
    rejects.push({ line, reason: entry.fault, text: entry.text });
    return;
  }
  const { value } = entry;
  const parsed = parse(value);
  if ('record' in parsed) items.push({ line, record: parsed.record, value });
  else rejects.push({ line, reason: toReason(parsed.errors), record: value });
}

export async function* readBatches<T>(
  { entries, bytesRead }: { entries: AsyncIterable<Entry[]>; bytesRead: () => number },
  parse: Parse<T>,
): AsyncGenerator<Batch<T>> {
  let beginBytes = 0;
  let mostRecords = FIRST_RECORDS;
  let batch: Batch<T> = { items: [], rejects: [], endBytes: 0 };
  for await (const group of entries) {
    for (const entry of group) judge(entry, parse, batch);
    batch.endBytes = bytesRead();
    const size = batch.items.length + batch.rejects.length;
    if (size < mostRecords && batch.endBytes - beginBytes < MOST_BYTES) continue;
    yield batch;
    mostRecords = MOST_RECORDS;
    beginBytes = batch.endBytes;
    batch = { items: [], rejects: [], endBytes: 0 };
  }
  if (batch.items.length + batch.rejects.length > 0) yield batch;
}
