// Reports to webhooks what time alone changes, once the time has come: subscriptions and trials that lapse, access that
// begins or ends. Any number of processes may do this concurrently: each profile is handled under its lock, in a
// transaction of its own.
import { type Kysely, sql } from 'kysely';
import { inTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { type Loop, startLoop } from '../lib/loop.ts';
import type { ProfileKey } from '../profile/state.ts';
import { nudgeDispatchers } from '../webhooks/nudge.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { collectDueEvents } from './due.ts';
import { listDueProfiles, retryLater } from './lapse-watch.ts';

const BATCH = 100;
const POLL_MS = 1_000;

/** Returns false if another transaction holds the profile, or if it is gone. */
async function lockUnlessBusy(trx: Kysely<DB>, { app_id, profile_id }: ProfileKey): Promise<boolean> {
  const { rows } = await sql`
    select from profile where app_id = ${app_id} and profile_id = ${profile_id} and deleted_at is null
    for no key update skip locked`.execute(trx);
  return rows.length > 0;
}

async function reportProfile(db: Kysely<DB>, key: ProfileKey): Promise<number> {
  return inTransaction(db, async (trx) => {
    if (!(await lockUnlessBusy(trx, key))) return 0;
    const { events } = await collectDueEvents(trx, key);
    return recordEvents(trx, events);
  });
}

/**
 * Reports to webhooks what is due for up to `BATCH` profiles, and ends early if `isStopped` returns true. Returns how
 * many profiles were due.
 */
export async function reportDueProfiles(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  isStopped: () => boolean = () => false,
): Promise<number> {
  const due = await listDueProfiles(db, BATCH);
  let stored = 0;
  for (const profile of due) {
    if (isStopped()) break;
    try {
      stored += await reportProfile(db, profile);
    } catch (error) {
      log.warn(
        { err: error, profile_id: profile.profile_id },
        'cannot report what is due for a profile; retrying in a minute',
      );
      await retryLater(db, profile);
    }
  }
  if (stored > 0) nudgeDispatchers(db);
  return due.length;
}

/** Reports to webhooks what is due, until stopped. */
export function startDueLoop(deps: Pick<Deps, 'db' | 'log'>): Loop {
  return startLoop({
    log: deps.log,
    name: 'due events',
    run: async (isStopped) => ((await reportDueProfiles(deps, isStopped)) < BATCH ? POLL_MS : 0),
  });
}
