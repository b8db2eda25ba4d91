// Entries from the columns instead of fact by fact: for questions about purchases, or what is active, that no total answers. Like the
// totals, columns hold what is totalled of the days before today; the rest is corrected, in the same snapshot.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import { PERIODS } from '../facts/codes.ts';
import { type ColumnName, type Kind, monthAfter } from '../facts/columns.ts';
import { countBuckets, todayIn } from './calendar.ts';
import { canCount, type Group, listJudged, listNeeded, type Scan, scanGroup } from './column-scan.ts';
import { ColumnSums, type SumRows, TooManyCells } from './column-sums.ts';
import { correctionRows, listCounted } from './corrections.ts';
import { AMOUNTS, type Condition, type Entries } from './entries.ts';
import type { Filter } from './filters.ts';
import type { ChartQuery } from './request.ts';
import type { Source, Sql } from './sources.ts';
import { hasTotals } from './totals.ts';

const isPeriod = (name: (typeof PERIODS)[number]) => {
  const code = PERIODS.indexOf(name);
  return ({ period }: Kind) => period === code;
};

const CONDITIONS: Record<Condition, (kind: Kind) => boolean> = {
  priced: ({ isPriced }) => isPriced,
  trial: isPeriod('trial'),
  paid: ({ period }) => period >= PERIODS.indexOf('activation') && period <= PERIODS.indexOf('renewal_6_plus'),
  first_paid: isPeriod('activation'),
  one_time: isPeriod('one_time'),
  not_refunded: ({ isRefunded }) => !isRefunded,
  adds_monthly: ({ addsMonthly }) => addsMonthly,
};

/** The months of purchase whose facts can count, and are kept in columns. */
function listMonths({ span, facts }: Source, { until }: Entries): number[] {
  const [first, end] = [span.days[0]!, span.days.at(-1)!];
  return facts.months.filter((month) => month < end && (until !== undefined || monthAfter(month) > first));
}

function hasColumns(source: Source, entries: Entries): boolean {
  const { of, at, until } = entries;
  const { inAppZone, dateType } = source.query;
  const isAsked = source.facts.usesTotals && inAppZone && dateType === 'purchase_date' && of === 'transaction';
  const isKept = at === 'purchased' && (until === undefined || until === 'active_until');
  return isAsked && isKept && !hasTotals(source, entries) && listMonths(source, entries).length > 0;
}

/** The keys, as text, that stand for the values of a filter. */
async function findKeys(db: Kysely<DB>, { dimension: { home }, values }: Filter): Promise<Set<string>> {
  if ('codes' in home) return new Set(values.map((value) => String(home.codes.indexOf(value))));
  const [key, value] = [sql.ref(home.column), sql.ref(home.value)];
  const { rows } = await sql<{ key: number }>`select ${key} as key from ${sql.table(home.table)}
    where coalesce(${value}, '') = any(${[...values]}::text[])`.execute(db);
  return new Set(rows.map((row) => String(row.key)));
}

async function planScan(db: Kysely<DB>, source: Source, { where, until, amount }: Entries): Promise<Scan> {
  const { query, span } = source;
  const judges: Scan['judges'] = {};
  for (const filter of query.filters) {
    const keys = await findKeys(db, filter);
    const column = filter.dimension.home.column as ColumnName;
    const others = judges[column];
    judges[column] = (value) => keys.has(value) && (others?.(value) ?? true);
  }
  return {
    judges,
    isCounted: (kind) => where.every((name) => CONDITIONS[name](kind)),
    edges: span.days,
    end: Math.min(span.days.at(-1)!, horizonOf(query)),
    isStock: until !== undefined,
    amount: amount === 'one' ? undefined : amount,
    segment: query.segmentation ? (query.segmentation.home.column as ColumnName) : undefined,
  };
}

/** The first day that is not read from the columns. */
function horizonOf({ zone, now }: ChartQuery): number {
  return todayIn(zone, now);
}

type Chunk = { row_group: number; name: ColumnName; dictionary: string; codes: string };

function byGroup(chunks: readonly Chunk[]): Map<number, Map<ColumnName, Chunk>> {
  const groups = new Map<number, Map<ColumnName, Chunk>>();
  for (const chunk of chunks) {
    if (!groups.has(chunk.row_group)) groups.set(chunk.row_group, new Map());
    groups.get(chunk.row_group)!.set(chunk.name, chunk);
  }
  return groups;
}

/** The groups of a month in which facts can count; first the values are looked at, and then the rows. */
async function readGroups(db: Kysely<DB>, source: Source, scan: Scan, month: number): Promise<Group[]> {
  const ofMonth = sql`app_key = ${source.owner.app_key} and month = ${month}`;
  const { rows: judged } = await sql<Chunk>`select row_group, name, dictionary, '' as codes from fact_column_chunk
    where ${ofMonth} and name = any(${listJudged(scan)}::text[])`.execute(db);
  const possible = [...byGroup(judged)].flatMap(([rowGroup, chunks]) =>
    canCount(scan, new Map([...chunks].map(([name, { dictionary }]) => [name, dictionary]))) ? [rowGroup] : [],
  );
  if (possible.length === 0) return [];
  const { rows: chunks } = await sql<Chunk>`select row_group, name, dictionary, codes from fact_column_chunk
    where ${ofMonth} and name = any(${listNeeded(scan)}::text[]) and row_group = any(${possible}::integer[])`.execute(
    db,
  );
  return [...byGroup(chunks).values()];
}

/** What the columns have of these entries; undefined where they cannot tell, or it would be too much to hold. */
export async function readColumns(
  db: Kysely<DB>,
  source: Source,
  { entries, signal }: { entries: Entries; signal: AbortSignal },
): Promise<SumRows | undefined> {
  if (!hasColumns(source, entries)) return undefined;
  const scan = await planScan(db, source, entries);
  const sums = new ColumnSums(countBuckets(source.span), AMOUNTS[entries.amount].length);
  try {
    for (const month of listMonths(source, entries)) {
      signal.throwIfAborted();
      for (const group of await readGroups(db, source, scan, month)) scanGroup(scan, group, sums);
    }
  } catch (error) {
    if (error instanceof TooManyCells) return undefined;
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
