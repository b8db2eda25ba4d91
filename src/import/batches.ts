// Groups entries into batches that are written together: records that passed their check, and rejects.
import type { FieldError } from '../errors.ts';
import type { Entry } from './entry.ts';
import { type Reject, toReason } from './rejects.ts';

/** Large enough that statements cost little per record, small enough for flat memory and short-lived locks. */
const MAX_RECORDS = 10_000;
/** The first batch may meet empty tables, about which the planner knows nothing. */
const FIRST_RECORDS = 1_000;
const MAX_BYTES = 16 * 1024 * 1024;

export type Parse<T> = (value: unknown) => { record: T } | { errors: FieldError[] };

export interface Item<T> {
  line: number;
  record: T;
  /**
   * The value the record was parsed from, kept for the rejects file. It shares its strings with the record; keeping the
   * line would take more memory.
   */
  value: unknown;
}

export interface Batch<T> {
  items: Item<T>[];
  rejects: Reject[];
  /** Offset in the file at which the batch ends. */
  endBytes: number;
}

function checkEntry<T>(entry: Entry, parse: Parse<T>): Item<T> | Reject {
  const { line } = entry;
  if ('fault' in entry) return { line, reason: entry.fault, text: entry.text };
  const { value } = entry;
  const parsed = parse(value);
  if ('record' in parsed) return { line, record: parsed.record, value };
  return { line, reason: toReason(parsed.errors), record: value };
}

function isItem<T>(checked: Item<T> | Reject): checked is Item<T> {
  return 'value' in checked;
}

/**
 * Yields the batches. `belongTogether` says whether two consecutive records should share a batch; a batch may grow to
 * twice its usual size for that.
 */
export async function* readBatches<T>(
  { entries, bytesRead }: { entries: AsyncIterable<Entry[]>; bytesRead: () => number },
  parse: Parse<T>,
  belongTogether: (one: T, next: T) => boolean = () => false,
): AsyncGenerator<Batch<T>> {
  let beginBytes = 0;
  let maxRecords = FIRST_RECORDS;
  let batch: Batch<T> = { items: [], rejects: [], endBytes: 0 };

  function mustEnd(next: Item<T> | Reject): boolean {
    const size = batch.items.length + batch.rejects.length;
    const fullness = Math.max(size / maxRecords, (batch.endBytes - beginBytes) / MAX_BYTES);
    if (fullness < 1 || fullness >= 2) return fullness >= 2;
    const last = batch.items.at(-1);
    return !(last && isItem(next) && belongTogether(last.record, next.record));
  }

  for await (const group of entries) {
    for (const entry of group) {
      const checked = checkEntry(entry, parse);
      if (mustEnd(checked)) {
        yield batch;
        maxRecords = MAX_RECORDS;
        beginBytes = batch.endBytes;
        batch = { items: [], rejects: [], endBytes: beginBytes };
      }
      if (isItem(checked)) batch.items.push(checked);
      else batch.rejects.push(checked);
    }
    batch.endBytes = bytesRead();
  }
  if (batch.items.length + batch.rejects.length > 0) yield batch;
}
