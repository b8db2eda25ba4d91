// Reads the figures of a chart: cells by bucket and segment, from totals, columns or single facts (readCells).
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import { inSlices } from '../lib/slices.ts';
import { countBuckets } from './calendar.ts';
import { dividesBy, unitOf } from './catalogue.ts';
import { CELLS_AT_ONCE, type Cell } from './cells.ts';
import { readColumns } from './columns/read.ts';
import { INSTALLS } from './entries.ts';
import { entryRows, widthOf } from './entry-rows.ts';
import type { FactsState } from './facts-state.ts';
import { type KeyedFilter, withKeys } from './filter-keys.ts';
import { type PayerQueries, queryPayers, SERIES } from './payer-queries.ts';
import type { ReadRelabelled } from './relabelled/profiles.ts';
import type { ChartQuery } from './request.ts';
import { type SpanSource, type Sql, segmentOfKey } from './sources.ts';

export interface CellsRequest {
  query: ChartQuery;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
  app: App;
  /** Includes the total and "other". */
  maxSeries: number;
  state: FactsState;
  readRelabelled: ReadRelabelled;
}

/**
 * Reads the cells of a query from the first source that can answer it:
 * - totals by day and month (totals.ts): transactions by their own dates, in the app's zone, by at most one column that
 *   totals are split by;
 * - facts by column, scanned in the process (columns/): other queries about months that have columns, including those
 *   in other zones and of payers;
 * - facts one by one (entry-rows.ts, event-parts.ts): the rest, such as cohorts by day of install.
 *
 * Totals and columns lag behind the facts. What they lack or have in excess is corrected in the same snapshot
 * (corrections.ts, install-corrections.ts; relabelled/ for pending labels), so the sum is exactly that of the facts.
 */
export async function readCells(db: Kysely<DB>, request: CellsRequest): Promise<Cell[]> {
  const [first, ...others] = listSpans(request, await withKeys(db, request.query.filters));
  if (!first) return [];
  const relabelled = await request.readRelabelled(db, first);
  const spans = [first, ...others].map((one) => ({ ...one, relabelled }));
  return (await readColumns(db, spans, request)) ?? (await queryCells(db, spans, request));
}

/** Lists the spans of the query that have buckets. */
function listSpans({ query, app, state }: CellsRequest, filters: readonly KeyedFilter[]): SpanSource[] {
  const spans = [query.span, query.compared].map((span, i) => {
    return { query, app, state, filters, span, index: i === 0 ? 0 : 1 };
  });
  return spans.filter((one): one is SpanSource => one.span !== null && countBuckets(one.span) > 0);
}

/**
 * Reads all cells in one statement, which ranks the segments and sums up those that rank too low as "other". However
 * many segments there are, only as many leave the database as the answer shows.
 */
async function queryCells(
  db: Kysely<DB>,
  spans: readonly SpanSource[],
  { query, maxSeries }: CellsRequest,
): Promise<Cell[]> {
  const payers = dividesBy(query.chart, 'payers') ? queryPayers(spans) : undefined;
  const cells = [entryCte(query, spans), cellCte(query), ...(payers?.ctes ?? [])];
  const statement = query.segmentation
    ? sql`with ${list([...cells, ...rankingCtes(query, maxSeries, payers)])} ${totalCells(query, payers)} union all ${segmentCells(query, payers)}`
    : sql`with ${list(cells)} ${totalCells(query, payers)}`;
  const { rows } = await sql<Omit<Cell, 'sums'> & { sums: string[] }>`${statement}`.execute(db);
  const read: Cell[] = [];
  await inSlices(rows, CELLS_AT_ONCE, (row) => read.push({ ...row, sums: row.sums.map(BigInt) }));
  return read;
}

const list = (parts: readonly Sql[]) => sql.join([...parts]);

function amounts(width: number, of: (name: Sql) => Sql): Sql {
  return list(Array.from({ length: width }, (_, i) => of(sql.ref(`a${i}`))));
}

function entryCte({ chart }: ChartQuery, spans: readonly SpanSource[]): Sql {
  const width = widthOf(chart.entries);
  const sums = amounts(width, (name) => name);
  const selects = spans.flatMap((source) => {
    const side = (name: Cell['side'], values: Sql, rows: Sql) =>
      sql`select ${sql.lit(name)} as side, ${sql.lit(source.index)} as span, bucket, key, ${values} from (${rows}) r`;
    const entries = chart.entries.map((one) => side('entries', sums, entryRows(source, one)));
    if (!dividesBy(chart, 'installs')) return entries;
    const installs = list([sql`a0`, ...Array.from({ length: width - 1 }, () => sql`0`)]);
    return [...entries, side('per', installs, entryRows(source, INSTALLS))];
  });
  return sql`entry as (${sql.join(selects, sql` union all `)})`;
}

function cellCte(query: ChartQuery): Sql {
  const { value, join } = segmentOfKey(query);
  const sums = amounts(widthOf(query.chart.entries), (name) => sql`sum(${name}) as ${name}`);
  return sql`cell as materialized (
    select side, span, bucket, ${value} as segment, ${sums} from entry e ${join} group by 1, 2, 3, 4)`;
}

/**
 * Ranks segments in the order of the answer: by the value shown under the first key, then by code point. Materialized
 * for the same reason as `materialized`: for an app that has just started, the planner expects a single cell.
 */
function rankingCtes(query: ChartQuery, maxSeries: number, payers: PayerQueries | undefined): Sql[] {
  const sum = (side: Cell['side']) => sql`sum(a0) filter (where side = ${sql.lit(side)} and span = 0)`;
  const shownUnit = unitOf(query.chart) === 'USD' ? sql`1000.0` : sql`1`;
  const divided = sql`divided as (select segment, coalesce(${sum('entries')}, 0) as value,
    ${query.chart.kind === 'ratio' && query.segmentation?.ofInstalls ? sum('per') : sql`1`} as per
    from cell where segment is not null group by segment)`;
  return [
    ...(payers ? [sql`paying as materialized (${payers.bySegment})`] : []),
    divided,
    sql`ranked as materialized (select segment,
        count(*) over () < ${maxSeries} or row_number() over (
          order by round(coalesce(value / nullif(${payers ? sql`paying.per` : sql`divided.per`}, 0), 0) / ${shownUnit}) desc,
            segment collate "C") <= ${maxSeries - 2} as kept
      from divided ${payers ? sql`left join paying using (segment)` : sql``})`,
  ];
}

function totalCells(query: ChartQuery, payers: PayerQueries | undefined): Sql {
  const sums = amounts(widthOf(query.chart.entries), (name) => sql`sum(${name})`);
  const entries = sql`select 'total' as place, '' as segment, side, span, bucket, array[${sums}]::text[] as sums
    from cell group by side, span, bucket`;
  return payers ? sql`${entries} union all ${payers.totals}` : entries;
}

function segmentCells(query: ChartQuery, payers: PayerQueries | undefined): Sql {
  const sums = amounts(widthOf(query.chart.entries), (name) => sql`sum(${name})`);
  const entries = sql`select place, segment, side, span, bucket, array[${sums}]::text[]
    from (select ${SERIES}, side, span, bucket, ${amounts(widthOf(query.chart.entries), (name) => name)}
      from cell join ranked using (segment)) c
    group by place, segment, side, span, bucket`;
  return payers ? sql`${entries} union all ${payers.series}` : entries;
}

/** Reads the titles that an app gave its stores. */
export async function readStoreTitles(db: Kysely<DB>, appId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('store_setting')
    .select(['store', 'title'])
    .where('app_id', '=', appId)
    .where('title', 'is not', null)
    .execute();
  return new Map(rows.map(({ store, title }) => [store, title as string]));
}
