// Generated histories: what a store can send about a few profiles between the end of 2024 and the spring of 2025.
import fc from 'fast-check';
import type { ProductRecord, ProfileRecord, TransactionRecord, World } from './oracle-facts.ts';

/** Transactions lie before and after it. */
export const NOW = Date.parse('2025-04-20T15:30:00Z');

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FROM = Date.parse('2024-11-20T00:00:00Z');

export const PRODUCTS: (ProductRecord & { duration: never })[] = [
  { store: 'app_store', store_product_id: 'monthly', duration: 'Monthly' },
  { store: 'app_store', store_product_id: 'annual', duration: 'Annual' },
  { store: 'play_store', store_product_id: 'weekly', duration: 'Weekly' },
  { store: 'stripe', store_product_id: 'odd', duration: 'Uncategorized' },
  { store: 'stripe', store_product_id: 'forever', duration: 'Lifetime' },
] as never;

const text = (at: number) => new Date(at).toISOString();
/** Often exactly midnight, where edges are, or such that a week or a month ends around `NOW`. */
const anyMoment = fc
  .tuple(fc.integer({ min: 0, max: 165 }), fc.constantFrom(0, 0, 5, 23 * 60 + 59, 300, 14 * 60 + 7))
  .map(([day, minutes]) => FROM + day * DAY_MS + minutes * 60_000);
const aroundNow = fc
  .tuple(fc.constantFrom(0, 7, 30, 31), fc.constantFrom(-20, -1, 1, 20))
  .map(([days, hours]) => NOW - days * DAY_MS + hours * HOUR_MS);
const moment = fc.oneof({ arbitrary: anyMoment, weight: 5 }, { arbitrary: aroundNow, weight: 1 });
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });

const attribution = fc.record({
  status: fc.constantFrom('organic', 'non_organic', 'unknown'),
  source: maybe(fc.constantFrom('apple_search_ads', 'Custom')),
  channel: maybe(fc.constantFrom('social', 'search')),
  campaign: maybe(fc.constantFrom('spring', 'Spring', 'émigré', '=1+1')),
  ad_group: maybe(fc.constantFrom('g1', 'g2')),
  ad_set: maybe(fc.constantFrom('s1', 's2')),
  creative: maybe(fc.constantFrom('c1', 'c2')),
});

function profileOf(index: number): fc.Arbitrary<ProfileRecord> {
  return fc
    .record({
      installed_at: moment,
      country: maybe(fc.constantFrom('US', 'DE', 'JP')),
      store: maybe(fc.constantFrom('app_store', 'play_store', 'acme')),
      attribution: maybe(attribution),
    })
    .map(({ installed_at, ...rest }) =>
      withoutAbsent({ customer_user_id: `p${index}`, installed_at: text(installed_at), ...rest }),
    );
}

/** Drops undefined members, which JSON does not have and exactOptionalPropertyTypes does not allow. */
function withoutAbsent<T extends object>(record: T): never {
  return JSON.parse(JSON.stringify(record)) as never;
}

const OFFERS: NonNullable<TransactionRecord['offer']>[] = [
  { category: 'win_back', type: 'pay_as_you_go', id: 'back10' },
  { category: 'promotional', type: 'pay_up_front', id: 'Back10' },
  { category: 'introductory', type: 'pay_up_front', id: null },
];

const step = fc.record({
  kind: fc.constantFrom('paid', 'paid', 'paid', 'paid', 'free', 'trial'),
  days: fc.oneof(
    { arbitrary: fc.constantFrom(7, 30, 31, 31, 60, 91, 182, 365, 45, 3), weight: 2 },
    // On both sides of each bound between two classes of lengths.
    { arbitrary: fc.constantFrom(5, 6, 8, 9, 27, 28, 32, 58, 59, 62, 63, 88, 89, 93, 94), weight: 1 },
    { arbitrary: fc.constantFrom(179, 180, 184, 185, 359, 360, 372, 373), weight: 1 },
  ),
  /** Added to the days. Lengths are rounded to whole days. */
  oddHours: fc.constantFrom(0, 0, 0, -1, 1, -11, 11),
  /** Hours from the end of this period to the next purchase: upgraded, renewed, in a grace period or after a gap. */
  gapHours: fc.constantFrom(0, 0, 0, -100, -24, 1, 48, 16 * 24, 40 * 24),
  cents: fc.constantFrom(999, 1, 12_345, 5000),
  product: fc.constantFrom('monthly', 'annual', 'weekly', 'odd', 'forever', 'unconfigured'),
  refundHours: maybe(fc.constantFrom(0, 5, 30, 24 * 35, 24 * 400)),
  graceDays: maybe(fc.constantFrom(1, 3, 16)),
  hasIssue: fc.boolean(),
  /** Hours from the end of the period to the moment at which its billing issue is noticed. */
  issueHours: fc.constantFrom(0, 0, -30, 24),
  cancelHours: maybe(fc.constantFrom(0, 30, 24 * 20)),
  /** Whether the renewal was switched on again, so that the moment of the change is not one of a cancellation. */
  isResumed: fc.constantFrom(false, false, false, true),
  reason: fc.constantFrom('voluntarily_cancelled', 'billing_error', undefined),
  copy: fc.constantFrom('', '', '', '', '', 'sandbox', 'family'),
  offer: maybe(fc.constantFrom(...OFFERS)),
  country: fc.constantFrom('US', 'us', 'DE', 'FR'),
  paywall: maybe(fc.constantFrom('pw1', 'pw2')),
  placement: maybe(fc.constantFrom('pl1', 'pl2')),
  audience: maybe(fc.constantFrom('au1', 'au2')),
  tax: fc.boolean(),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Endings of the ids of a chain's transactions, in order. Transactions of the same instant are sorted by code point. */
const SUFFIXES = '0BaCbDcEd';

interface ChainSeed {
  /** Number of the chain in its store. Chains of different stores have the same ids. */
  index: number;
  owner: number;
  store: string;
  begins: number;
}

function offerOf({ kind, offer }: Step): TransactionRecord['offer'] {
  if (kind === 'trial') return { category: 'introductory', type: 'free_trial', id: null };
  return offer;
}

function priceOf({ kind, cents, country, tax }: Step): TransactionRecord['price'] {
  const value = kind === 'paid' ? cents / 100 : 0;
  const parts =
    tax && kind === 'paid' ? { proceeds_usd: Math.floor(cents / 2) / 100, tax_usd: Math.floor(cents / 10) / 100 } : {};
  return { country, currency: 'USD', value, ...parts };
}

function subscription({ index, owner, store, begins }: ChainSeed, steps: Step[]): TransactionRecord[] {
  let at = begins;
  return steps.map((one, i) => {
    const purchased = i === 0 ? at : Math.max(at, begins);
    const expires = purchased + one.days * DAY_MS + one.oddHours * HOUR_MS;
    at = Math.max(expires + one.gapHours * HOUR_MS, purchased);
    const isRefunded = one.refundHours !== undefined;
    const hasIssue = one.graceDays !== undefined || one.hasIssue;
    return withoutAbsent({
      customer_user_id: `p${owner}`,
      purchase_type: 'subscription',
      store,
      store_product_id: one.product,
      store_transaction_id: `s${index}-${SUFFIXES[i]}`,
      store_original_transaction_id: `s${index}-0`,
      environment: one.copy === 'sandbox' ? 'Sandbox' : undefined,
      is_family_shared: one.copy === 'family' ? true : undefined,
      price: priceOf(one),
      purchased_at: text(purchased),
      originally_purchased_at: text(begins),
      expires_at: text(expires),
      renew_status: one.cancelHours === undefined || one.isResumed,
      renew_status_changed_at: one.cancelHours === undefined ? undefined : text(purchased + one.cancelHours * HOUR_MS),
      billing_issue_detected_at: hasIssue ? text(Math.max(expires + one.issueHours * HOUR_MS, purchased)) : undefined,
      grace_period_expires_at: one.graceDays === undefined ? undefined : text(expires + one.graceDays * DAY_MS),
      offer: offerOf(one),
      paywall_id: one.paywall,
      placement_id: one.placement,
      audience_id: one.audience,
      refunded_at: isRefunded ? text(purchased + one.refundHours! * HOUR_MS) : undefined,
      cancellation_reason: isRefunded ? 'refund' : one.reason,
    });
  });
}

function oneTime({ index, owner, store, begins }: ChainSeed, one: Step): TransactionRecord {
  const isRefunded = one.refundHours !== undefined;
  return withoutAbsent({
    customer_user_id: `p${owner}`,
    purchase_type: 'one_time_purchase',
    store,
    store_product_id: one.product,
    store_transaction_id: `o${index}`,
    store_original_transaction_id: `o${index}`,
    price: priceOf(one),
    purchased_at: text(begins),
    // Stored, but without meaning for a one-time purchase.
    billing_issue_detected_at: one.graceDays !== undefined || one.hasIssue ? text(begins) : undefined,
    grace_period_expires_at: one.graceDays === undefined ? undefined : text(begins + one.graceDays * DAY_MS),
    refunded_at: isRefunded ? text(begins + one.refundHours! * HOUR_MS) : undefined,
    cancellation_reason: isRefunded ? 'refund' : undefined,
  });
}

const seed = fc.record({
  owner: fc.nat(),
  store: fc.constantFrom('app_store', 'play_store', 'stripe'),
  begins: moment,
  isOneTime: fc.constantFrom(false, false, false, true),
  steps: fc.array(step, { minLength: 1, maxLength: 9 }),
});

/** Profiles, their transactions in the order in which they happened, and the configured products. */
export const history: fc.Arbitrary<World> = fc
  .tuple(fc.integer({ min: 1, max: 8 }), fc.array(seed, { minLength: 4, maxLength: 20 }))
  .chain(([count, seeds]) =>
    fc.tuple(...Array.from({ length: count }, (_, i) => profileOf(i))).map((profiles): World => {
      const transactions = seeds.flatMap(({ owner, isOneTime, steps, ...rest }, i) => {
        const index = seeds.slice(0, i).filter(({ store }) => store === rest.store).length;
        const chain = { index, owner: owner % count, ...rest };
        return isOneTime ? [oneTime(chain, steps[0]!)] : subscription(chain, steps);
      });
      return { profiles, transactions, products: PRODUCTS, now: NOW };
    }),
  );
