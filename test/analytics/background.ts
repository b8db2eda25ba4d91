// What the background does to totals, labels and columns, until nothing is left or one step at a time.
import type { Kysely } from 'kysely';
import type { DB } from '../../src/db/types.ts';
import { refreshColumns } from '../../src/facts/columns.ts';
import { refreshInstallColumns } from '../../src/facts/install-columns.ts';
import { relabelBatch } from '../../src/facts/relabel.ts';
import { totalAll } from './import.ts';

/** Adds all facts to the totals, a few at a time. */
export const completeTotals = (db: Kysely<DB>) => totalAll(db, 50);

export async function relabelAll(db: Kysely<DB>): Promise<void> {
  while ((await relabelBatch(db)) > 0);
}

/** Low limits, as if every month had many facts and changes; some changes are appended, some cause a rebuild. */
const LOW_LIMITS = { minFacts: 1, minInstalls: 1, minChanges: 1, maxAppended: 2 };
/** Brings the columns of one month up to date. */
export const refreshMonth = (db: Kysely<DB>) => refreshColumns(db, LOW_LIMITS);
export const refreshInstallMonth = (db: Kysely<DB>) => refreshInstallColumns(db, LOW_LIMITS);

/** Refreshes the two months, of half a year, that need it most. */
export async function refreshSomeMonths(db: Kysely<DB>): Promise<void> {
  await refreshMonth(db);
  await refreshMonth(db);
}

export async function completeColumns(db: Kysely<DB>): Promise<void> {
  while ((await refreshMonth(db)) > 0);
  while ((await refreshInstallMonth(db)) > 0);
}
