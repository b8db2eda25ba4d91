// The reference for charts: DuckDB in this process, warm, with the same facts.
import { createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { chart } from '../../src/analytics/catalogue.ts';
import { dimension } from '../../src/analytics/dimensions.ts';
import type { DuckAnswer, Values } from '../charts/ask.ts';
import type { Question } from '../charts/questions.ts';
import type { Dataset } from '../data/datasets.ts';
import { withClient } from '../database.ts';
import { toStatements } from './duckdb-sql.ts';

const NANO = 1e9;
/** The facts of a profile that waits to be relabelled still have the old label; the pending one counts. */
const LABEL = 'coalesce(pending.attribution_key, f.attribution_key) as attribution_key';
const PENDING = 'left join label_pending pending on pending.app_key = f.app_key and pending.profile_id = f.profile_id';
const KEYS = ['store_key', 'product_key', 'placement_key', 'offer_key', 'country_key'];
const CODES = ['period', 'duration', 'renewal_status', 'cancellation_reason'];
const AMOUNTS = ['revenue', 'proceeds', 'net', 'monthly_revenue', 'monthly_proceeds', 'monthly_net'];
const DAYS = [
  'purchased',
  'active_until',
  'lapse',
  'refunded',
  'renewal_cancelled',
  'grace',
  'billing_issue',
  'installed',
].map((moment) => `date '1970-01-01' + ${moment}_day as ${moment}_day`);

/** What is exported: only the columns that charts need. */
const TABLES: Record<string, string> = {
  fact_transaction: `select f.profile_id, ${[...DAYS, ...AMOUNTS, ...KEYS, ...CODES, LABEL].join(', ')} from fact_transaction f ${PENDING}`,
  fact_install: `select f.profile_id, date '1970-01-01' + installed_day as installed_day, country_key, store_key, ${LABEL}
    from fact_install f ${PENDING}`,
  dim_attribution:
    'select attribution_key, status, channel, campaign, ad_group, ad_set, creative, source from dim_attribution',
  dim_store: 'select store_key, store from dim_store',
  dim_product: 'select product_key, store_product_id from dim_product',
  dim_placement: 'select placement_key, paywall_id, audience_id, placement_id from dim_placement',
  dim_offer: 'select offer_key, offer_category, offer_type, offer_id from dim_offer',
  dim_country: 'select country_key, country from dim_country',
};

const TYPES = ['profile_id uuid', ...DAYS.map((day) => `${day.split(' ').at(-1)} date`)];

function columnTypes(name: string): string {
  if (name !== 'fact_transaction') return '';
  const integers = [...KEYS, 'attribution_key'].map((key) => `${key} integer`);
  const all = [
    ...TYPES,
    ...AMOUNTS.map((one) => `${one} bigint`),
    ...integers,
    ...CODES.map((code) => `${code} tinyint`),
  ];
  return `, types = {${all.map((one) => one.split(' ')).map(([column, type]) => `'${column}': '${type}'`)}}`;
}

async function exportTable(client: pg.Client, select: string, file: string): Promise<void> {
  const stream = client.query(copyTo(`copy (${select}) to stdout (format csv, header)`));
  await pipeline(stream, createWriteStream(file));
}

export interface Duck {
  ask: (question: Question) => Promise<DuckAnswer>;
  close: () => void;
}

/** Exports the facts of a data set to DuckDB and opens them there. */
export async function openDuck({ url, name }: Dataset, folder: string): Promise<Duck> {
  const file = join(folder, `${name}.duckdb`);
  for (const old of [file, `${file}.wal`]) rmSync(old, { force: true });
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await withClient(url, async (client) => {
    for (const [table, select] of Object.entries(TABLES)) {
      const csv = join(folder, `${table}.csv`);
      await exportTable(client, select, csv);
      await connection.run(
        `create table ${table} as select * from read_csv('${csv}', header = true, nullstr = ''${columnTypes(table)})`,
      );
      rmSync(csv);
    }
  });
  return { ask: (question) => askDuck(connection, question), close: () => connection.closeSync() };
}

type Cell = Record<string, unknown> & { segment: unknown; amount_0: number };

async function read(connection: DuckDBConnection, sql: string): Promise<Cell[]> {
  return (await connection.runAndReadAll(sql)).getRowObjectsJS() as Cell[];
}

async function askDuck(connection: DuckDBConnection, question: Question): Promise<DuckAnswer> {
  const { sums, denominator } = toStatements(question);
  const began = performance.now();
  const cells = await read(connection, sums);
  const divisors = denominator === undefined ? [] : await read(connection, denominator);
  const ms = performance.now() - began;
  return { ms, values: toValues(question, cells, divisors) };
}

/** Computes the values of the range, for the total and for every segment, as the service's answer has them. */
function toValues(question: Question, cells: readonly Cell[], divisors: readonly Cell[]): Values {
  const { kind, entries, ...rest } = chart(question.chart_id);
  const unit = entries.some(({ amount }) => amount !== 'one') ? NANO : 1;
  const named = (cell: Cell) => nameOf(question, cell.segment);
  const segments = new Map<string, number>();
  const lastBucket = new Map<string, number>();
  for (const cell of cells) {
    const [name, at] = [named(cell), Number(cell.bucket)];
    if (kind !== 'stock') segments.set(name, (segments.get(name) ?? 0) + cell.amount_0 / unit);
    else if (at >= (lastBucket.get(name) ?? Number.NEGATIVE_INFINITY)) {
      lastBucket.set(name, at);
      segments.set(name, cell.amount_0 / unit);
    }
  }
  const sum = (values: Iterable<number>) => [...values].reduce((all, one) => all + one, 0);
  const total = sum(segments.values());
  if (kind !== 'ratio') return { total, segments, isCut: false };
  const isPayers = 'per' in rest && rest.per === 'payers';
  const ofRange = isPayers ? divisors.filter((cell) => cell.is_range === true) : divisors;
  const all = isPayers
    ? (ofRange.find((cell) => cell.is_total === true)?.amount_0 ?? 0)
    : sum(divisors.map(({ amount_0 }) => amount_0));
  const isSplit = question.segmentation !== null && (isPayers || dimension(question.segmentation).ofInstalls);
  const by = new Map<string, number>();
  for (const cell of ofRange)
    if (cell.is_total !== true) by.set(named(cell), (by.get(named(cell)) ?? 0) + cell.amount_0);
  const divide = (value: number, divisor: number) => (divisor === 0 ? 0 : value / divisor);
  const names = new Set([...segments.keys(), ...(isSplit ? by.keys() : [])]);
  const ratios = [...names].map(
    (name) => [name, divide(segments.get(name) ?? 0, isSplit ? (by.get(name) ?? 0) : all)] as const,
  );
  return { total: divide(total, all), segments: new Map(ratios), isCut: false };
}

function nameOf({ segmentation }: Question, segment: unknown): string {
  if (segmentation === null) return '';
  const { home } = dimension(segmentation);
  return 'codes' in home ? (home.codes[Number(segment)] as string) : String(segment);
}
