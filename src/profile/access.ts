// Decides which source gives a profile each access level now (decisions.md 5 and 6). Pure: `now` is an argument.
// Timestamps are compared as text: all are UTC with six fractional digits.
import { fromDatabase } from '../lib/datetime.ts';
import type { GrantState, ProfileState, PurchaseState } from './state.ts';

/** What opens an access level, from when to when (null: immediately, for ever). */
export interface AccessSource {
  access_level_id: string;
  from: string | null;
  /** Exclusive; null is lifetime access. */
  until: string | null;
  opened_by: { grant: GrantState } | { purchase: PurchaseState };
}

function instant(value: string | null): string | null {
  return value === null ? null : fromDatabase(value);
}

/** Whether the period's own end has passed and its grace end has not. */
function isBetweenEnds({ expires_at, grace_period_expires_at }: PurchaseState, now: string): boolean {
  if (expires_at === null || grace_period_expires_at === null) return false;
  return fromDatabase(expires_at) <= now && now < fromDatabase(grace_period_expires_at);
}

/** A refund may be known before it happens. */
export function isRefunded({ refunded_at }: PurchaseState, now: string): boolean {
  return refunded_at !== null && fromDatabase(refunded_at) <= now;
}

/** A refunded purchase is in no grace period. */
export function isInGracePeriod(purchase: PurchaseState, now: string): boolean {
  return isBetweenEnds(purchase, now) && !isRefunded(purchase, now);
}

function endOf(purchase: PurchaseState, now: string): string | null {
  const { purchase_type, expires_at, grace_period_expires_at, refunded_at } = purchase;
  const isLifelong = purchase_type === 'one_time_purchase';
  const end = isLifelong ? null : instant(isBetweenEnds(purchase, now) ? grace_period_expires_at : expires_at);
  const refund = instant(refunded_at);
  return refund !== null && (end === null || refund < end) ? refund : end;
}

/** How a grant is shown as a purchase (decisions.md 5). */
export const GRANT_AS_PURCHASE = {
  store: 'service',
  store_product_id: 'server_side_grant',
  environment: 'Production',
} as const;

/** Returns a grant as a source of its level. */
export function sourceOfGrant(grant: GrantState): AccessSource {
  return {
    access_level_id: grant.access_level_id,
    from: instant(grant.starts_at),
    until: instant(grant.expires_at),
    opened_by: { grant },
  };
}

function sourcesOf(state: ProfileState, now: string): AccessSource[] {
  const bought = state.purchases.flatMap((purchase): AccessSource[] => {
    const { access_level_id, is_consumable, purchase_type } = purchase;
    if (access_level_id === null || (purchase_type === 'one_time_purchase' && is_consumable)) return [];
    return [
      { access_level_id, from: instant(purchase.purchased_at), until: endOf(purchase, now), opened_by: { purchase } },
    ];
  });
  // Among equal sources, the first one serves: purchases before grants, the latest purchase first.
  return [...bought.toReversed(), ...state.grants.map(sourceOfGrant)];
}

/** Ranks a source: 0 active, 1 future, 2 expired or revoked before it began. */
function rank({ from, until }: AccessSource, now: string): number {
  const isComing = from !== null && from > now;
  if (until !== null && until <= (isComing ? from : now)) return 2;
  return isComing ? 1 : 0;
}

export function isActive(source: AccessSource, now: string): boolean {
  return rank(source, now) === 0;
}

function servesBetter(one: AccessSource, other: AccessSource, now: string): boolean {
  const difference = rank(one, now) - rank(other, now);
  if (difference !== 0) return difference < 0;
  if (other.until === null) return false;
  return one.until === null || one.until > other.until;
}

/** Returns, for each access level, the source that serves best at `now` (a timestamp), in the order of level ids. */
export function listAccess(state: ProfileState, now: string): AccessSource[] {
  const best = new Map<string, AccessSource>();
  for (const source of sourcesOf(state, now)) {
    const known = best.get(source.access_level_id);
    if (!known || servesBetter(source, known, now)) best.set(source.access_level_id, source);
  }
  return [...best.values()].sort((a, b) => (a.access_level_id < b.access_level_id ? -1 : 1));
}
