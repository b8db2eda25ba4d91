// Loads what pricing needs: the app's commissions and the currency rates around the days of purchase.
import { type Kysely, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import type { PriceBook } from './pricing.ts';
import type { TransactionRecord } from './record.ts';

async function loadCommissions(db: Kysely<DB>, appId: string): Promise<Map<string, string>> {
  const query = db
    .selectFrom('store_setting')
    .select(['store', 'commission'])
    .where('app_id', '=', appId)
    .where('commission', 'is not', null);
  const rows = await executePrepared(db, 'load_commissions', query);
  return new Map(rows.map(({ store, commission }) => [store, commission as string]));
}

async function loadRates(db: Kysely<DB>, records: readonly TransactionRecord[]): Promise<Map<string, string>> {
  const wanted = records.filter(
    ({ price_currency, price_value_usd }) => price_currency !== 'USD' && price_value_usd === null,
  );
  if (wanted.length === 0) return new Map();
  const names = [
    ...new Set(wanted.map(({ price_currency, purchased_at }) => `${price_currency}${purchased_at.slice(0, 10)}`)),
  ];
  const { rows } = await sql<{ name: string; usd_per_unit: string }>`
    select wanted.currency || wanted.day as name, rate.usd_per_unit
    from unnest(${names.map((name) => name.slice(0, 3))}::text[], ${names.map((name) => name.slice(3))}::text[])
      as wanted (currency, day)
    cross join lateral (
      select r.usd_per_unit from currency_rate r
      where r.currency = wanted.currency and r.rate_date between wanted.day::date - 7 and wanted.day::date
      order by r.rate_date desc limit 1) rate`.execute(db);
  return new Map(rows.map(({ name, usd_per_unit }) => [name, usd_per_unit]));
}

/** Loads the prices that these records need. */
export async function loadPriceBook(
  db: Kysely<DB>,
  app: App,
  records: readonly TransactionRecord[],
): Promise<PriceBook> {
  const [commissions, rates] = await Promise.all([loadCommissions(db, app.app_id), loadRates(db, records)]);
  return {
    commissionOf: (store) => commissions.get(store),
    rateOf: (currency, day) => rates.get(`${currency}${day}`),
  };
}
