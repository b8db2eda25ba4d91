// Works out what a set transaction changed, for webhooks: compares the profile and the chain before and after the
// write.
import type { Kysely } from 'kysely';
import type { Changed } from '../changes/change.ts';
import type { DB } from '../db/types.ts';
import { toDatabase } from '../lib/datetime.ts';
import { readShownSince } from '../profile/read-state.ts';
import type { ProfileState } from '../profile/state.ts';
import { type ChainKey, type ChainTransaction, type Owner, readChain } from './chain.ts';
import { chainChangesOf } from './chain-changes.ts';
import { accessEvents, chainEvents } from './events.ts';
import { moveWatch, planLapses, unwatch, watch } from './lapse-watch.ts';

/** A profile as it is shown since a moment, and one of its chains. */
export interface Snapshot {
  state: ProfileState;
  chain: ChainTransaction[];
}

/** The profile that a chain is taken from, before and after; no states if it is deleted. */
export interface FormerOwner {
  profile_id: string;
  states: { before: ProfileState; after: ProfileState } | undefined;
}

/** Reads the profile as it is shown since `now` (a timestamp), and the chain of its owner, if it has one. */
export async function readSnapshot(
  trx: Kysely<DB>,
  key: ChainKey,
  { now, owner }: { now: string; owner: Pick<Owner, 'profile_id'> | undefined },
): Promise<Snapshot> {
  const [state, chain] = await Promise.all([
    readShownSince(trx, key, now),
    owner ? readChain(trx, { ...key, profile_id: owner.profile_id }) : [],
  ]);
  return { state, chain };
}

/**
 * Returns the profile after the write, with events for what changed at `now` (a timestamp). `alsoWrite` watches for
 * what time alone will change later.
 */
export function describeChange(
  key: ChainKey,
  { now, before, after, formerOwner }: { now: string; before: Snapshot; after: Snapshot; formerOwner?: FormerOwner },
): Changed {
  const { state, chain } = after;
  const plan = planLapses(before.chain, chain, now);
  const events = [
    ...chainEvents(chainChangesOf(before.chain, chain), state, now),
    ...accessEvents({ state: before.state, now }, { state, now }, () => toDatabase(now)),
  ];
  if (formerOwner?.states) {
    const { before: had, after: has } = formerOwner.states;
    events.push(...accessEvents({ state: had, now }, { state: has, now }, () => toDatabase(now)));
  }
  return {
    state,
    events,
    async alsoWrite(trx) {
      const numbers = before.chain.map(({ purchase_no }) => purchase_no);
      const { app_id, profile_id } = key;
      await Promise.all([
        formerOwner && moveWatch(trx, { app_id, profile_id: formerOwner.profile_id }, { to: profile_id, numbers }),
        watch(trx, key, plan.watch),
        unwatch(trx, key, plan.forget),
      ]);
    },
  };
}
