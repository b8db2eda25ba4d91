// The events of purchases (decisions.md 7): what happened to a chain, and how the profile's access changed.
import { randomUUID } from 'node:crypto';
import { accessEvent, profileTotals } from '../changes/access-event.ts';
import { fromDatabase, microsecondBefore, toDatabase, toWire } from '../lib/datetime.ts';
import { toUsd } from '../lib/money.ts';
import { type AccessSource, isActive, listAccess } from '../profile/access.ts';
import { renderSource } from '../profile/object.ts';
import type { ProfileState } from '../profile/state.ts';
import { buildEvent, type WebhookEvent } from '../webhooks/events.ts';
import type { ChainTransaction } from './chain.ts';
import type { ChainChange } from './chain-changes.ts';

/** The transaction as events describe it; documented in docs/events.md. */
function propertiesOf(transaction: ChainTransaction) {
  return {
    store: transaction.store,
    environment: transaction.environment,
    vendor_product_id: transaction.store_product_id,
    base_plan_id: transaction.store_base_plan_id,
    transaction_id: transaction.store_transaction_id,
    original_transaction_id: transaction.store_original_transaction_id,
    period: transaction.period,
    is_family_shared: transaction.is_family_shared,
    purchased_at: toWire(transaction.purchased_at),
    originally_purchased_at: toWire(transaction.originally_purchased_at ?? transaction.purchased_at),
    expires_at: toWire(transaction.expires_at),
    will_renew: transaction.renew_status === true,
    renew_status_changed_at: toWire(transaction.renew_status_changed_at),
    billing_issue_detected_at: toWire(transaction.billing_issue_detected_at),
    grace_period_expires_at: toWire(transaction.grace_period_expires_at),
    refunded_at: toWire(transaction.refunded_at),
    cancellation_reason: transaction.cancellation_reason,
    offer_category: transaction.offer_category,
    offer_type: transaction.offer_type,
    offer_id: transaction.offer_id,
    paywall_id: transaction.paywall_id,
    audience_id: transaction.audience_id,
    placement_id: transaction.placement_id,
    variation_id: transaction.variation_id,
    store_country: transaction.price_country,
    currency: transaction.price_currency,
    price_local: Number(transaction.price_value),
    price_usd: toUsd(transaction.revenue_nano),
    proceeds_usd: toUsd(transaction.proceeds_nano),
    net_revenue_usd: toUsd(transaction.net_nano),
  };
}

/** Returns an event per change; `now` (a timestamp) is the moment at which the profile is described. */
export function chainEvents(changes: readonly ChainChange[], state: ProfileState, now: string): WebhookEvent[] {
  return changes.map(({ event_type, at, transaction }) =>
    buildEvent({
      event_id: randomUUID(),
      event_type,
      at: at ?? toDatabase(now),
      profile: state,
      properties: { ...propertiesOf(transaction), ...profileTotals(state, now) },
    }),
  );
}

/** A profile as it is, or was, at a moment (a timestamp). */
export interface ProfileAt {
  state: ProfileState;
  now: string;
}

interface ShownLevel {
  source: AccessSource;
  shown: string;
}

function shownAccess({ state, now }: ProfileAt): Map<string, ShownLevel> {
  return new Map(
    listAccess(state, now).map((source) => {
      const shown = JSON.stringify([isActive(source, now), renderSource(source, now)]);
      return [source.access_level_id, { source, shown }];
    }),
  );
}

/** Whether the change is reported. A grant was reported when it was made or revoked, so its dates are not. */
function isReported(before: ShownLevel | undefined, after: ShownLevel): boolean {
  if (before?.shown === after.shown) return false;
  return !(before && 'grant' in before.source.opened_by && 'grant' in after.source.opened_by);
}

/**
 * Returns `access_level_updated` for each level that the profile shows differently or no longer shows. `at` returns
 * when that came about, or null if it is not to be reported.
 */
export function accessEvents(
  before: ProfileAt,
  after: ProfileAt,
  at: (accessLevelId: string) => string | null,
): WebhookEvent[] {
  const [old, current] = [shownAccess(before), shownAccess(after)];
  const toEvents = (source: AccessSource, isGone: boolean) => {
    const changedAt = at(source.access_level_id);
    return changedAt === null ? [] : [accessEvent({ ...after, event_id: randomUUID(), at: changedAt, source, isGone })];
  };
  const changed = [...current].filter(([level, shown]) => isReported(old.get(level), shown));
  const gone = [...old].filter(([level]) => !current.has(level));
  return [
    ...changed.flatMap(([, { source }]) => toEvents(source, false)),
    ...gone.flatMap(([, { source }]) => toEvents(source, true)),
  ];
}

/**
 * Returns the last moment between two timestamps, as the database's text, at which time alone changed how a profile
 * shows an access level.
 */
export function lastChange(
  state: ProfileState,
  accessLevelId: string,
  { since, now }: { since: string; now: string },
): string {
  const isOfLevel = (one: { access_level_id: string | null }) => one.access_level_id === accessLevelId;
  const dates = [
    ...state.grants.filter(isOfLevel).flatMap(({ starts_at, expires_at }) => [starts_at, expires_at]),
    ...state.purchases
      .filter(isOfLevel)
      .flatMap((one) => [one.purchased_at, one.expires_at, one.grace_period_expires_at, one.refunded_at]),
  ];
  const moments = dates.filter((date) => date !== null).map(fromDatabase);
  const shownAt = (moment: string) => shownAccess({ state, now: moment }).get(accessLevelId)?.shown;
  const found = moments
    .filter((moment) => since < moment && moment <= now)
    .sort()
    .findLast((moment) => shownAt(moment) !== shownAt(microsecondBefore(moment)));
  return toDatabase(found ?? now);
}
