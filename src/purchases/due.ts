// What time alone has changed in a profile since it was last reported to webhooks: subscriptions and trials that
// lapsed, access that began or ended.
import type { Kysely } from 'kysely';
import type { DB } from '../db/types.ts';
import { fromDatabase, microsecondBefore, toDatabase } from '../lib/datetime.ts';
import { readShownSince } from '../profile/read-state.ts';
import type { ProfileKey, ProfileState, PurchaseState } from '../profile/state.ts';
import type { WebhookEvent } from '../webhooks/events.ts';
import { type ChainTransaction, readChain } from './chain.ts';
import { lapseOf } from './chain-changes.ts';
import { accessEvents, chainEvents, lastChange } from './events.ts';
import { comingMoments, hasLapsed, takeDue, watch } from './lapse-watch.ts';

export interface DueEvents {
  /** The moment (a timestamp by the database's clock) up to which everything watched has been reported. */
  now: string;
  /** To be recorded in the same transaction, before other events of the profile. */
  events: WebhookEvent[];
}

/**
 * Returns the profile as if lapsed purchases had begun before the moment: they were reported as running, and an import
 * may have set their end to their beginning.
 */
function asIfBegunBefore(state: ProfileState, lapsed: readonly ChainTransaction[], moment: string): ProfileState {
  const isLapsed = ({ store, store_original_transaction_id: chain, store_transaction_id: id }: PurchaseState) =>
    lapsed.some(
      (one) => one.store === store && one.store_original_transaction_id === chain && one.store_transaction_id === id,
    );
  const began = (purchase: PurchaseState) =>
    fromDatabase(purchase.purchased_at) > moment && isLapsed(purchase)
      ? { ...purchase, purchased_at: toDatabase(moment) }
      : purchase;
  return { ...state, purchases: state.purchases.map(began) };
}

/**
 * Takes what is due for a profile that the caller has locked, and returns it as events. Watches what comes later in its
 * chains, including moments that an import set.
 */
export async function collectDueEvents(trx: Kysely<DB>, key: ProfileKey): Promise<DueEvents> {
  const { now, due } = await takeDue(trx, key);
  const [first] = due;
  if (!first) return { now, events: [] };
  const lapsed: ChainTransaction[] = [];
  for (const { numbers, ...name } of due) {
    const chain = await readChain(trx, { ...key, ...name });
    await watch(trx, key, comingMoments(chain, now));
    lapsed.push(...chain.filter((one) => hasLapsed(one, now) && numbers.includes(one.purchase_no)));
  }
  const earlier = microsecondBefore(fromDatabase(first.due_at));
  const state = await readShownSince(trx, key, first.due_at);
  const span = { since: earlier, now };
  const isDue = ({ store, store_original_transaction_id: id }: PurchaseState) =>
    due.some((chain) => chain.store === store && chain.store_original_transaction_id === id);
  // Only levels of the due chains: an import may have set a moment that is long past, and what other chains give has
  // been reported since, when it changed.
  const levels = new Set(state.purchases.filter(isDue).map(({ access_level_id }) => access_level_id));
  const before = { state: asIfBegunBefore(state, lapsed, earlier), now: earlier };
  const access = accessEvents(before, { state, now }, (level) =>
    levels.has(level) ? lastChange(state, level, span) : null,
  );
  return { now, events: [...chainEvents(lapsed.map(lapseOf), state, now), ...access] };
}
