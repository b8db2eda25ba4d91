// The derivation of chains (analytics.md 1, "Derived") in SQL: a series of subqueries, each reading the one before it.
// Its slow, obvious twin is the oracle in test/analytics/. Read from the bottom: `datedFacts` is the result.
import { type RawBuilder, sql } from 'kysely';
import { MAX_NANO } from '../lib/money.ts';
import { DURATIONS, PERIODS, REASONS } from './codes.ts';

type Duration = (typeof DURATIONS)[number];

/** The classes of periods, each with the minimum and the maximum number of whole days that it may last. */
const LENGTHS: readonly (readonly [number, number, Duration])[] = [
  [6, 8, 'Weekly'],
  [28, 31, 'Monthly'],
  [59, 62, '2 months'],
  [89, 93, '3 months'],
  [180, 184, '6 months'],
  [360, 372, 'Annual'],
];

/** The length of each class in months, as a fraction: a week is 12/52 of a month. */
const MONTHS: readonly (readonly [Duration, number, number])[] = [
  ['Weekly', 12, 52],
  ['Monthly', 1, 1],
  ['2 months', 2, 1],
  ['3 months', 3, 1],
  ['6 months', 6, 1],
  ['Annual', 12, 1],
];

const durationCode = (duration: Duration) => sql.lit(DURATIONS.indexOf(duration));
const periodCode = (name: (typeof PERIODS)[number]) => sql.lit(PERIODS.indexOf(name));

/** Returns an expression for the code of the text in a column: its position in the list. */
export function codeOf(column: string, list: readonly string[]): RawBuilder<unknown> {
  return sql`array_position(array[${sql.join(list.map((name) => sql.lit(name)))}], ${sql.ref(column)}) - 1`;
}

const CHAIN = sql`partition by profile_id, store, store_original_transaction_id, purchase_type`;
const IN_ORDER = sql`order by purchased_at, store_transaction_id collate "C"`;

/**
 * Adds what follows from a transaction alone: when its period ends, how many days that is, and whether it was offered
 * as a trial. Half a day is rounded up; `round` of a `double precision` would round it to the even number.
 */
const described = sql`
  select *, is_subscription and offer_type is not distinct from 'free_trial' as is_offered_trial,
    case when is_subscription then coalesce(grace_period_expires_at, expires_at) end as own_end,
    case when is_subscription then floor(date_part('epoch', expires_at - purchased_at) / 86400 + 0.5)::integer end as days
  from (select *, purchase_type = 'subscription' as is_subscription from counted) one`;

const LENGTH_CLASS = sql`case ${sql.join(
  LENGTHS.map(
    ([min, max, duration]) => sql`when days between ${sql.lit(min)} and ${sql.lit(max)} then ${durationCode(duration)}`,
  ),
  sql` `,
)} end`;

/**
 * A free subscription period that was not offered as a trial. As the first of its chain it counts as a trial too;
 * offered trials do anyway.
 */
const IS_FREE = sql`is_subscription and not is_offered_trial and revenue_nano = 0`;

/**
 * Adds when the next transaction of the chain was purchased, and the number of the paid period: 0 for a trial, null for
 * a one-time purchase. The number is the place in the chain minus the trials so far, because counting the transactions
 * that are not trials would need a second window over this one.
 */
const numbered = sql`
  select *, ${LENGTH_CLASS} as length_class, least(refunded_at, own_end) as end_moment,
    case when is_trial then 0 when is_subscription then place - trials end as paid_number
  from (
    select *,
      lead(purchased_at) over chain as next_at,
      is_offered_trial or (row_number() over chain = 1 and ${IS_FREE}) as is_trial,
      row_number() over chain as place,
      count(*) filter (where is_offered_trial) over chain + (first_value(${IS_FREE}) over chain)::integer as trials
    from (${described}) described
    window chain as (${CHAIN} ${IN_ORDER} rows unbounded preceding)
  ) placed`;

const classed = sql`
  select *, case
    when configured_duration is not null then ${codeOf('configured_duration', DURATIONS)}
    when is_subscription then coalesce(length_class, ${durationCode('Uncategorized')})
    else ${durationCode('Lifetime')} end as own_duration
  from (${numbered}) numbered`;

/** A trial of an unconfigured product takes the duration of its chain's first paid period. */
const categorized = sql`
  select *, case when is_trial and configured_duration is null
    then coalesce(max(own_duration) filter (where paid_number = 1) over chain, ${durationCode('Uncategorized')})
    else own_duration end as duration
  from (${classed}) classed
  window chain as (${CHAIN})`;

/**
 * Returns `amount * times / over` in whole numbers, rounded half away from zero. It divides first, because the largest
 * amount times 52 would overflow a bigint.
 */
export function scaleAmount(amount: RawBuilder<unknown>, times: number, over: number): RawBuilder<unknown> {
  if (times === over) return amount;
  const [t, o] = [sql.lit(times), sql.lit(over)];
  return sql`${amount} / ${o} * ${t} + (2 * ${t} * (${amount} % ${o}) + ${o} * sign(${amount})::integer) / (2 * ${o})`;
}

/**
 * Returns an amount per month, rounded once to 10^-9 USD; null if the period adds nothing to MRR. Only uncategorized
 * periods are computed with `numeric`, which takes four times as long.
 */
function monthly(column: string): RawBuilder<unknown> {
  const amount = sql.ref(column);
  const whens = MONTHS.map(
    ([duration, over, under]) => sql`when ${durationCode(duration)} then ${scaleAmount(amount, under, over)}`,
  );
  const seconds = sql`extract(epoch from expires_at - purchased_at)`;
  return sql`case when paid_number > 0 then case coalesce(length_class, duration) ${sql.join(whens, sql` `)}
    when ${durationCode('Uncategorized')} then least(round(${amount}::numeric * 365 * 86400 / (12 * ${seconds})), ${sql.lit(MAX_NANO)})::bigint end end`;
}

/**
 * Selects the facts of the purchases in the relation `counted` (whole chains, with the product's
 * `configured_duration`), under the names of fact_transaction's columns. Dimensions are still texts, and days are still
 * missing. `others` are further columns of `counted` to select.
 */
export function datedFacts(others: readonly string[] = []): RawBuilder<unknown> {
  return sql`
  select ${sql.join(['profile_id', ...others].map((name) => sql.ref(name)))}, purchase_no, purchased_at,
    case when is_subscription then least(own_end, next_at) end as active_until,
    case when is_subscription and (next_at <= end_moment) is not true then end_moment end as lapse_at,
    refunded_at,
    case when is_subscription and not renew_status then renew_status_changed_at end as renewal_cancelled_at,
    case when is_subscription and grace_period_expires_at is not null then billing_issue_detected_at end as grace_at,
    case when not is_subscription then null
      when grace_period_expires_at is null then billing_issue_detected_at
      when next_at <= grace_period_expires_at then null
      else grace_period_expires_at end as billing_issue_at,
    revenue_nano as revenue, proceeds_nano as proceeds, net_nano as net,
    ${monthly('revenue_nano')} as monthly_revenue,
    ${monthly('proceeds_nano')} as monthly_proceeds,
    ${monthly('net_nano')} as monthly_net,
    store, store_product_id, price_country, offer_category, offer_type, offer_id, paywall_id, audience_id, placement_id,
    case when is_subscription then least(paid_number, ${periodCode('renewal_6_plus')}) else ${periodCode('one_time')} end as period,
    duration,
    case when not is_subscription then 0 when renew_status then 1 else 2 end as renewal_status,
    coalesce(${codeOf('cancellation_reason', REASONS)}, 0) as cancellation_reason
  from (${categorized}) categorized`;
}
