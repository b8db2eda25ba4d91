// What a set transaction changed, for webhooks: profile and chain are read before and after the write and compared.
import type { Kysely } from 'kysely';
import type { DB } from '../db/types.ts';
import { fromDatabase } from '../lib/datetime.ts';
import type { Changed } from '../profile/change.ts';
import { readProfileState } from '../profile/read-state.ts';
import type { ProfileState } from '../profile/state.ts';
import { type ChainKey, type ChainTransaction, type Owner, readChain } from './chain.ts';
import { changesOf } from './changes.ts';
import { accessEvents, chainEvents } from './events.ts';
import { planLapses, unwatch, watch } from './lapse-watch.ts';

/** What is known before the write. */
export interface Before {
  state: ProfileState;
  chain: ChainTransaction[];
  /** The other profile that the chain is taken from, and its state if it lives. */
  takenFrom: { profile_id: string; state: ProfileState | undefined } | undefined;
}

export async function readBefore(trx: Kysely<DB>, key: ChainKey, owner: Owner | undefined): Promise<Before> {
  const { app_id, profile_id } = key;
  const state = await readProfileState(trx, app_id, profile_id);
  if (!owner) return { state, chain: [], takenFrom: undefined };
  const chain = await readChain(trx, { ...key, profile_id: owner.profile_id });
  if (owner.profile_id === profile_id) return { state, chain, takenFrom: undefined };
  const ownerState = owner.is_deleted ? undefined : await readProfileState(trx, app_id, owner.profile_id);
  return { state, chain, takenFrom: { profile_id: owner.profile_id, state: ownerState } };
}

/** The profile after the write with the events of what changed; from now on its coming lapses are watched. */
export async function tellChange(trx: Kysely<DB>, key: ChainKey, before: Before): Promise<Changed> {
  const { takenFrom } = before;
  const state = await readProfileState(trx, key.app_id, key.profile_id);
  const chain = await readChain(trx, key);
  const now = fromDatabase(state.read_at);
  const plan = planLapses(before.chain, chain, { now, isMoved: takenFrom !== undefined });
  await watch(trx, key, plan.watch);
  await unwatch(trx, key, plan.forget);
  const events = [
    ...chainEvents(changesOf(before.chain, chain), state, now),
    ...accessEvents({ state: before.state, now }, { state, now }, state.read_at),
  ];
  if (!takenFrom) return { state, events };
  const numbers = before.chain.map(({ purchase_no }) => purchase_no);
  await unwatch(trx, { app_id: key.app_id, profile_id: takenFrom.profile_id }, numbers);
  if (!takenFrom.state) return { state, events };
  const left = await readProfileState(trx, key.app_id, takenFrom.profile_id);
  return {
    state,
    events: [...events, ...accessEvents({ state: takenFrom.state, now }, { state: left, now }, left.read_at)],
  };
}
