// Answers queries from columns, which are summed up in the process rather than in the database. What the columns lack
// or have in excess is corrected in the same snapshot. Anything else that a query needs arrives as sums by bucket and
// key.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../db/types.ts';
import { yieldToEventLoop } from '../../lib/slices.ts';
import { appDaysOf, appToday } from '../app-days.ts';
import { countBuckets, cutSpan } from '../calendar.ts';
import { dividesBy } from '../catalogue.ts';
import type { Cell } from '../cells.ts';
import { correctionRows } from '../corrections.ts';
import { type Entries, INSTALLS, PURCHASES } from '../entries.ts';
import { entryRows, widthOf } from '../entry-rows.ts';
import { installCorrectionRows } from '../install-corrections.ts';
import { partRows } from '../parts.ts';
import type { CellsRequest } from '../queries.ts';
import { numberSegments, type Segments } from '../segments.ts';
import type { Source, SpanSource, Sql } from '../sources.ts';
import { isMonthly, totalsHorizon } from '../total-home.ts';
import { hasTotals } from '../totals.ts';
import { listCells, type SummedSpan } from './cells.ts';
import { isInColumns, listGroups, listMonths, planScan } from './groups.ts';
import { startPayers } from './payers.ts';
import { scanGroup } from './scan.ts';
import { ColumnSums, TooMuchToHold } from './sums.ts';

/** Returns the cells of a query; undefined if columns do not help with it, or if it would be too much to hold. */
export async function readColumns(
  db: Kysely<DB>,
  spans: readonly SpanSource[],
  { maxSeries, signal }: Pick<CellsRequest, 'maxSeries' | 'signal'>,
): Promise<Cell[] | undefined> {
  const { query } = spans[0]!;
  const { chart } = query;
  const entries = dividesBy(chart, 'installs') ? [...chart.entries, INSTALLS] : chart.entries;
  const isRead = dividesBy(chart, 'payers')
    ? spans.every((source) => isInColumns(source, PURCHASES))
    : spans.some((source) => entries.some((one) => isScanned(source, one)));
  if (!isRead) return undefined;
  try {
    const segments = await numberSegments(db, query);
    if (!segments) return undefined;
    const summed: SummedSpan[] = [];
    for (const source of spans) summed.push(await sumSpan(db, source, { segments, signal }));
    // Let other requests be answered first, as between groups.
    await yieldToEventLoop();
    return listCells(query, summed, { segments: segments.values, maxSeries });
  } catch (error) {
    if (error instanceof TooMuchToHold) return undefined;
    throw error;
  }
}

function isScanned(source: Source, entries: Entries): boolean {
  return isInColumns(source, entries) && (!hasTotals(source, entries) || isOfOpenMonth(source));
}

/** Whether totals would leave the current month to be read fact by fact, although columns have it. */
function isOfOpenMonth(source: Source): boolean {
  const horizon = totalsHorizon(source);
  return isMonthly(source) && appDaysOf(source).end > horizon && source.state.months.transaction.includes(horizon);
}

/**
 * Installs that are in no columns are read in up to this many statements, each short enough to run while a month is
 * scanned.
 */
const MAX_PIECES = 12;

/** Lists the statements that read the part of these entries that is not scanned. */
function listUnscanned(source: SpanSource, entries: Entries): Omit<AddedRows, 'sums'>[] {
  if (isScanned(source, entries)) return [{ bucketOffset: 0, named: correctionsOf(source, entries) }];
  const pieces = cutSpan(source.span, entries.of === 'install' ? MAX_PIECES : 1);
  return pieces.map(({ first, span }) => ({ bucketOffset: first, named: rowsOf({ ...source, span }, entries) }));
}

async function sumSpan(
  db: Kysely<DB>,
  source: SpanSource,
  { segments, signal }: { segments: Segments; signal: AbortSignal },
): Promise<SummedSpan> {
  const { chart } = source.query;
  const newSums = (entries: readonly Entries[]) =>
    new ColumnSums(countBuckets(source.span), widthOf(entries), segments.values.length);
  const entries = newSums(chart.entries);
  const installs = newSums([INSTALLS]);
  const payers = dividesBy(chart, 'payers') ? await startPayers(db, source, segments) : undefined;
  const summed = [
    ...chart.entries.map((one) => ({ one, sums: entries })),
    ...(dividesBy(chart, 'installs') ? [{ one: INSTALLS, sums: installs }] : []),
  ];
  const meanwhile = summed.flatMap(({ one, sums }) =>
    listUnscanned(source, one).map((unscanned) => () => addRows(db, segments, { sums, ...unscanned })),
  );
  for (const { one, sums } of summed) {
    const target = { sums: isScanned(source, one) ? sums : undefined, payers: one === PURCHASES ? payers : undefined };
    if (!target.sums && !target.payers) continue;
    const scan = await planScan(db, source, { entries: one, segments, target });
    for await (const group of listGroups(db, source, { entries: one, scan, signal, meanwhile }))
      scanGroup(scan, group, target);
  }
  payers?.finish();
  for (const add of meanwhile) await add();
  return { index: source.index, entries, installs, payers };
}

/** Rows of `bucket, key` and these columns of numbers, which include `n` if the rows are corrections. */
interface NamedRows {
  rows: Sql;
  names: readonly string[];
}

function amountsOf(entries: Entries): string[] {
  return Array.from({ length: widthOf([entries]) }, (_, i) => `a${i}`);
}

function rowsOf(source: Source, entries: Entries): NamedRows {
  return { rows: entryRows(source, entries), names: amountsOf(entries) };
}

/** Selects what columns lack or have in excess. */
function correctionsOf(source: Source, entries: Entries): NamedRows | undefined {
  const baseline = { horizon: appToday(source.query), months: listMonths(source, entries) };
  const parts =
    entries.of === 'install' ? installCorrectionRows(source, baseline) : correctionRows(source, entries, baseline);
  return parts.length > 0 ? { rows: partRows(entries, parts), names: ['n', ...amountsOf(entries)] } : undefined;
}

/** More rows would be too much to hold. */
const MAX_ROWS = 400_000;

/** After a bucket with more rows than this, other requests are answered first. */
const MANY_ROWS = 1_000;

interface AddedRows {
  sums: ColumnSums;
  /** The number, from 0, of the bucket that is bucket 1 of the rows. */
  bucketOffset: number;
  named: NamedRows | undefined;
}

/**
 * Adds rows to sums. There may be many, so all rows of a bucket arrive as one, which has a list for each of their
 * columns. Throws TooMuchToHold.
 */
async function addRows(db: Kysely<DB>, segments: Segments, { sums, bucketOffset, named }: AddedRows): Promise<void> {
  if (!named) return;
  const names = ['key', ...named.names];
  const lists = names.map((name) => sql`string_agg(coalesce(${sql.ref(name)}::text, ''), ',') as ${sql.ref(name)}`);
  const { rows } = await sql<Record<string, string> & { bucket: number; count: number }>`
    select bucket, count(*)::integer as count, ${sql.join(lists)}
    from (select * from (${named.rows}) r limit ${MAX_ROWS}) r group by bucket`.execute(db);
  if (rows.reduce((all, { count }) => all + count, 0) === MAX_ROWS) throw new TooMuchToHold();
  for (const { bucket, count, ...columns } of rows) {
    const [keys = [], ...numbers] = names.map((name) => columns[name]!.split(','));
    const facts = names.includes('n') ? numbers.shift() : undefined;
    for (let i = 0; i < count; i++) {
      const segment = segments.segmentOf(keys[i] === '' ? null : Number(keys[i]));
      const amounts = numbers.map((list) => list[i]!);
      sums.addSums(segment, bucketOffset + bucket - 1, { facts: Number(facts?.[i] ?? 1), sums: amounts });
    }
    if (count > MANY_ROWS) await yieldToEventLoop();
  }
}
