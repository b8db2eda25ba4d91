// How long an answer stays valid if no fact changes: until the next moment of a fact that it depends on, and at most
// until midnight.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import { dayStart, type Zone } from '../lib/zone.ts';
import { appToday } from './app-days.ts';
import { todayIn } from './calendar.ts';
import { dividesBy } from './catalogue.ts';
import { type Entries, INSTALLS, type Moment } from './entries.ts';
import type { ChartQuery } from './request.ts';
import { dayOf, moment, nowOf, tableOf } from './sources.ts';

const MICROS = 1_000_000;

/** Returns the next midnight, in microseconds: buckets begin where days do. */
function nextMidnight(zone: Zone, now: string): number {
  return dayStart(zone, todayIn(zone, now) + 1) * MICROS;
}

/** Lists the moments of facts that change the answer when they pass. */
function listMoments({ chart, dateType, span, compared }: ChartQuery): { of: Entries['of']; at: Moment }[] {
  const byInstall = dateType === 'profile_install_date';
  const reachesNow = byInstall || span.reachesNow || compared?.reachesNow === true;
  const entries = byInstall || dividesBy(chart, 'installs') ? [...chart.entries, INSTALLS] : chart.entries;
  return entries.flatMap(({ of, at, until, where }) => {
    const refund = where.includes('not_refunded') ? (['refunded'] as const) : [];
    const passing = reachesNow ? [at, ...(until ? [until] : [])] : [];
    return [...refund, ...passing].map((name) => ({ of, at: name }));
  });
}

/** Returns the instant, in microseconds, before which the answer stays the same unless facts change. */
export async function readValidUntil(trx: Kysely<DB>, app: App, query: ChartQuery): Promise<number> {
  const moments = [nextMidnight(query.zone, query.now), nextMidnight(query.appZone, query.now)];
  const ahead = listMoments(query).map(
    ({ of, at }) => sql`(select min(${moment(at)}) from ${tableOf({ of })} f
      where f.app_key = ${app.app_key} and ${dayOf(at)} = ${sql.lit(appToday(query))}
        and ${moment(at)} >= ${nowOf(query)})`,
  );
  if (ahead.length > 0) {
    const { rows } = await sql<{ next: bigint | null }>`
      select (extract(epoch from least(${sql.join(ahead)})) * 1000000)::bigint as next`.execute(trx);
    if (rows[0]?.next != null) moments.push(Number(rows[0].next));
  }
  return Math.min(...moments);
}
