// Derives what happened to a chain from its transactions before and after a write. Pure.
import type { EventType } from '../webhooks/catalogue.ts';
import type { ChainTransaction } from './chain.ts';

export interface ChainChange {
  event_type: EventType;
  /**
   * When it happened, as the database's text; null if nothing says when. Charts, in contrast, date a billing issue that
   * has a grace period by the end of that period.
   */
  at: string | null;
  transaction: ChainTransaction;
}

function isSubscription({ purchase_type }: ChainTransaction): boolean {
  return purchase_type === 'subscription';
}

/** Returns what kind of event a new transaction of the chain is. */
function eventTypeOfNew(
  transaction: ChainTransaction,
  before: readonly ChainTransaction[],
  after: readonly ChainTransaction[],
): EventType {
  if (!isSubscription(transaction)) return 'non_subscription_purchase';
  if (transaction.period === 'trial') return 'trial_started';
  const isSameKind = (other: ChainTransaction) =>
    isSubscription(other) &&
    other.environment === transaction.environment &&
    other.is_family_shared === transaction.is_family_shared;
  // Judged by what was known before, so that a chain begins once, in whatever order its history arrives.
  if (before.some((other) => isSameKind(other) && other.period !== 'trial')) return 'subscription_renewed';
  return after.some((other) => isSameKind(other) && other.period === 'trial')
    ? 'trial_converted'
    : 'subscription_started';
}

/** A member that a transaction did not have before: what its appearance means, and when that happened. */
const APPEARANCES: readonly {
  has: (transaction: ChainTransaction) => boolean;
  toChange: (transaction: ChainTransaction) => Pick<ChainChange, 'event_type' | 'at'>;
}[] = [
  {
    has: (one) => isSubscription(one) && one.billing_issue_detected_at !== null,
    toChange: ({ billing_issue_detected_at: at }) => ({ event_type: 'billing_issue_detected', at }),
  },
  {
    has: (one) => isSubscription(one) && one.grace_period_expires_at !== null,
    toChange: ({ billing_issue_detected_at: at }) => ({ event_type: 'entered_grace_period', at }),
  },
  {
    has: (one) => isSubscription(one) && one.renew_status === false,
    toChange: ({ renew_status_changed_at: at }) => ({ event_type: 'subscription_renewal_cancelled', at }),
  },
  {
    has: ({ refunded_at }) => refunded_at !== null,
    toChange: (one) => ({
      event_type: isSubscription(one) ? 'subscription_refunded' : 'non_subscription_purchase_refunded',
      at: one.refunded_at,
    }),
  },
];

function appearances(transaction: ChainTransaction, before: ChainTransaction | undefined): ChainChange[] {
  return APPEARANCES.filter(({ has }) => has(transaction) && !(before && has(before))).map(({ toChange }) => ({
    ...toChange(transaction),
    transaction,
  }));
}

/** Returns the changes in the order in which they are reported; a write that changed nothing yields none. */
export function chainChangesOf(before: readonly ChainTransaction[], after: readonly ChainTransaction[]): ChainChange[] {
  const known = new Map(before.map((transaction) => [transaction.purchase_no, transaction]));
  return after.flatMap((transaction) => {
    const earlier = known.get(transaction.purchase_no);
    const appeared = appearances(transaction, earlier);
    if (earlier) return appeared;
    const event_type = eventTypeOfNew(transaction, before, after);
    return [{ event_type, at: transaction.purchased_at, transaction }, ...appeared];
  });
}

/** Returns the lapse of a transaction as a change. */
export function lapseOf(transaction: ChainTransaction): ChainChange {
  const event_type = transaction.period === 'trial' ? 'trial_expired' : 'subscription_expired';
  return { event_type, at: transaction.lapse_at, transaction };
}
