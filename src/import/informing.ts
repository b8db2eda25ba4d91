// Keeps the planner informed of the tables that an import fills.
import type { Session } from '../db/session.ts';
import { analyzeApps, analyzeKeys, analyzeSmallTables } from '../db/statistics.ts';
import type { App } from '../deps.ts';
import type { Kind } from './kind.ts';

/** Tables are looked at again when so many times as much was read: each look takes longer than writing a hundred records. */
const NEXT_LOOK = 1.25;
/** To look takes longer than to write fewer records than this, which tell the planner nothing. */
const FIRST_LOOK = 500;

/** Makes a function that is told after each batch how many records were read, and looks where that is enough. */
export function createInforming(
  { tables, dimensions }: Pick<Kind<unknown>, 'tables' | 'dimensions'>,
  { app_key }: App,
): (session: Session, read: number) => Promise<void> {
  let lookedAt = 0;
  return async ({ db }, read) => {
    if (read < Math.max(FIRST_LOOK, NEXT_LOOK * lookedAt)) return;
    lookedAt = read;
    await analyzeKeys(db, tables);
    if (dimensions) await analyzeSmallTables(db, dimensions);
    await analyzeApps(db, { tables, appKey: app_key });
  };
}
