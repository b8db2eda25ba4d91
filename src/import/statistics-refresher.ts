// Keeps the planner's statistics current for the tables that an import fills.
import type { Session } from '../db/session.ts';
import { analyzeApps, analyzeKeys, analyzeSmallTables } from '../db/statistics.ts';
import type { App } from '../deps.ts';
import type { Kind } from './kind.ts';

/**
 * The tables are checked again once this many times as much has been read: each check takes longer than writing a
 * hundred records.
 */
const CHECK_GROWTH = 1.25;
/** Below this many records, a check takes longer than writing them, and so few would be of no use to the planner. */
const FIRST_CHECK = 500;

/**
 * Returns a function that is called after each batch with the number of records read so far, and checks the tables when
 * enough have been added.
 */
export function createStatisticsRefresher(
  { tables, dimensions }: Pick<Kind<unknown>, 'tables' | 'dimensions'>,
  { app_key }: App,
): (session: Session, read: number) => Promise<void> {
  let checkedAt = 0;
  return async ({ db }, read) => {
    if (read < Math.max(FIRST_CHECK, CHECK_GROWTH * checkedAt)) return;
    checkedAt = read;
    await analyzeKeys(db, tables);
    if (dimensions) await analyzeSmallTables(db, dimensions);
    await analyzeApps(db, { tables, appKey: app_key });
  };
}
