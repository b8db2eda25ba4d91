// Statements about currency rates, which all apps share.
import { type Kysely, sql, type Transaction } from 'kysely';
import type { DB } from '../db/types.ts';

/** USD per unit of a currency on a day: `YYYY-MM-DD`, and a decimal number as text. */
export interface Rate {
  rate_date: string;
  currency: string;
  usd_per_unit: string;
}

/** Keeps out other writers of rates, but not readers. */
export async function lockRates(trx: Transaction<DB>): Promise<void> {
  await sql`lock table currency_rate in share row exclusive mode`.execute(trx);
}

export async function upsertRates(trx: Transaction<DB>, rates: readonly Rate[]): Promise<void> {
  await sql`
    insert into currency_rate (currency, rate_date, usd_per_unit)
    select * from unnest(
      ${rates.map(({ currency }) => currency)}::text[],
      ${rates.map(({ rate_date }) => rate_date)}::date[],
      ${rates.map(({ usd_per_unit }) => usd_per_unit)}::numeric[])
    on conflict (currency, rate_date) do update set usd_per_unit = excluded.usd_per_unit`.execute(trx);
}

/**
 * The range of days (`YYYY-MM-DD`) for which there are rates of a currency, how many there are, and the newest one, in
 * USD per unit as decimal text.
 */
export interface RateRange {
  currency: string;
  first_date: string;
  last_date: string;
  rates: number;
  last_usd_per_unit: string;
}

export async function listRateRanges(db: Kysely<DB>): Promise<RateRange[]> {
  const { rows } = await sql<RateRange>`
    select currency, min(rate_date) as first_date, max(rate_date) as last_date, count(*)::integer as rates,
      trim_scale((array_agg(usd_per_unit order by rate_date desc))[1]) as last_usd_per_unit
    from currency_rate group by currency order by currency`.execute(db);
  return rows;
}
