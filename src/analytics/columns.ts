// Entries from the columns instead of fact by fact: for questions about purchases, or what is active, that no total answers. Like the
// totals, columns hold what is totalled of the days before today; the rest is corrected, in the same snapshot.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import { countBuckets } from './calendar.ts';
import { horizonOf, isInColumns, listMonths, planScan, readGroups } from './column-groups.ts';
import { scanGroup } from './column-scan.ts';
import { ColumnSums, type SumRows, TooManySums } from './column-sums.ts';
import { correctionRows, listCounted } from './corrections.ts';
import { AMOUNTS, type Entries } from './entries.ts';
import type { Source, Sql } from './sources.ts';
import { hasTotals } from './totals.ts';

/** What the columns have of these entries; undefined where they cannot tell, or it would be too much to hold. */
export async function readColumns(
  db: Kysely<DB>,
  source: Source,
  { entries, signal }: { entries: Entries; signal: AbortSignal },
): Promise<SumRows | undefined> {
  if (hasTotals(source, entries) || !isInColumns(source, entries)) return undefined;
  const scan = await planScan(db, source, entries);
  const sums = new ColumnSums(countBuckets(source.span), AMOUNTS[entries.amount].length);
  try {
    for (const month of listMonths(source, entries)) {
      signal.throwIfAborted();
      for (const group of await readGroups(db, source, scan, month)) scanGroup(scan, group, sums);
    }
  } catch (error) {
    if (error instanceof TooManySums) return undefined;
    throw error;
  }
  return sums.toRows();
}

/** The parts that make up the entries, `bucket, key, n, a0 …`: the columns, and what they lack or have too much of. */
export function columnParts(source: Source, entries: Entries, { buckets, keys, counts, amounts }: SumRows): Sql[] {
  const kept = { horizon: horizonOf(source.query), months: listMonths(source, entries) };
  const columns = amounts.map((values) => sql`, ${values.map(String)}::numeric[]`);
  const names = ['bucket', 'key', 'n', ...amounts.map((_, i) => `a${i}`)].map((name) => sql.ref(name));
  return [
    sql`select * from unnest(${buckets}::integer[], ${keys}::integer[], ${counts}::bigint[] ${sql.join(columns, sql` `)})
      as c (${sql.join(names)})`,
    ...listCounted(entries).flatMap((counted) => correctionRows(source, entries, counted, kept)),
  ];
}
