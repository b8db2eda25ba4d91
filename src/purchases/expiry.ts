// Tells webhooks of subscriptions and trials that lapsed, each once, when their time has come. Any number of processes may do
// so: each profile is told of under its lock, in a transaction of its own.
import { type Kysely, sql } from 'kysely';
import { inTransaction } from '../db/client.ts';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { fromDatabase, timestampOf, toDatabase } from '../lib/datetime.ts';
import { type Loop, startLoop } from '../lib/loop.ts';
import { readProfileState } from '../profile/read-state.ts';
import type { ProfileState } from '../profile/state.ts';
import type { WebhookEvent } from '../webhooks/events.ts';
import { nudgeDispatchers } from '../webhooks/nudge.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { type ChainTransaction, readChain } from './chain.ts';
import { lapseOf } from './changes.ts';
import { accessEvents, chainEvents } from './events.ts';
import { type DueChain, type DueProfile, listDueProfiles, putOff, takeDue, watch } from './lapse-watch.ts';

const BATCH = 100;
const POLL_MS = 1_000;

/** False if another process is at the profile, or it is gone. */
async function lockUnlessBusy(trx: Kysely<DB>, { app_id, profile_id }: DueProfile): Promise<boolean> {
  const { rows } = await sql`
    select from profile where app_id = ${app_id} and profile_id = ${profile_id} and deleted_at is null
    for no key update skip locked`.execute(trx);
  return rows.length > 0;
}

function microsecondBefore(timestamp: string): string {
  const whole = Date.parse(`${timestamp.slice(0, 19)}Z`);
  const micros = BigInt(whole) * 1000n + BigInt(timestamp.slice(20, 26)) - 1n;
  const milliseconds = micros / 1000n;
  return `${new Date(Number(milliseconds)).toISOString().slice(0, 23)}${String(micros % 1000n).padStart(3, '0')}Z`;
}

function lapseMoment({ lapse_at }: ChainTransaction): string {
  return fromDatabase(lapse_at as string);
}

/** The access that went with the lapses: what the profile showed just before the first, and what it shows now. */
function lostAccess(lapsed: readonly ChainTransaction[], state: ProfileState, now: string): WebhookEvent[] {
  // What had lapsed when it was set was told as such then.
  const [first, ...others] = lapsed
    .filter((one) => lapseMoment(one) > fromDatabase(one.recorded_at))
    .map(lapseMoment)
    .sort();
  if (first === undefined) return [];
  const last = others.at(-1) ?? first;
  return accessEvents({ state, now: microsecondBefore(first) }, { state, now }, toDatabase(last));
}

/** What of the chain has lapsed by now; what will lapse later is watched. */
async function settleChain(
  trx: Kysely<DB>,
  { app_id, profile_id }: DueProfile,
  { chain, now }: { chain: DueChain; now: string },
): Promise<ChainTransaction[]> {
  const lapsing = (await readChain(trx, { ...chain, app_id, profile_id })).filter(({ lapse_at }) => lapse_at !== null);
  // Also of a chain that an import continued: it goes on being watched at its new end.
  await watch(
    trx,
    { app_id, profile_id },
    lapsing.filter((one) => lapseMoment(one) > now),
  );
  return lapsing.filter((one) => lapseMoment(one) <= now && chain.numbers.includes(one.purchase_no));
}

async function tellProfile(db: Kysely<DB>, due: DueProfile, now: string): Promise<number> {
  return inTransaction(db, async (trx) => {
    if (!(await lockUnlessBusy(trx, due))) return 0;
    const lapsed: ChainTransaction[] = [];
    for (const chain of await takeDue(trx, due, now)) lapsed.push(...(await settleChain(trx, due, { chain, now })));
    if (lapsed.length === 0) return 0;
    const state = await readProfileState(trx, due.app_id, due.profile_id);
    const events = [...chainEvents(lapsed.map(lapseOf), state, now), ...lostAccess(lapsed, state, now)];
    return recordEvents(trx, due, events);
  });
}

/** Tells of what lapsed in up to `BATCH` profiles; how many profiles were due. */
export async function tellLapses({ db, log, now }: Pick<Deps, 'db' | 'log' | 'now'>): Promise<number> {
  const present = timestampOf(now());
  const due = await listDueProfiles(db, present, BATCH);
  let stored = 0;
  for (const profile of due) {
    try {
      stored += await tellProfile(db, profile, present);
    } catch (error) {
      log.warn({ err: error, profile_id: profile.profile_id }, 'lapses cannot be told; trying again in a minute');
      await putOff(db, profile, present);
    }
  }
  if (stored > 0) nudgeDispatchers(db);
  return due.length;
}

/** Tells of lapses until stopped. */
export function startExpiry(deps: Pick<Deps, 'db' | 'log' | 'now'>): Loop {
  return startLoop({
    log: deps.log,
    name: 'expiry',
    run: async () => ((await tellLapses(deps)) < BATCH ? POLL_MS : 0),
  });
}
