// Tracks the health of endpoints and suspends failing ones (decisions.md 7): immediately after a 410, or after five
// days of nothing but failures.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';

const GONE = 410;
const SUSPEND_AFTER = '5 days';
const SUSPEND_AFTER_ATTEMPTS = 10;

/** Where and with what an attempt was made. It says nothing about an endpoint that has been changed since. */
interface Target {
  webhook_id: string;
  url: string;
  /** As it is stored. */
  authorization_value: string | null;
}

/** What a batch of attempts says about one endpoint. */
export interface Health extends Target {
  succeeded: boolean;
  /** Failures since the last success in the batch. */
  failures: number;
  firstFailureAt: Date | null;
  /** Whether an attempt was answered with 410. */
  isGone: boolean;
}

/** The outcome of one attempt. Outcomes are kept in the order in which the attempts ended. */
export interface AttemptOutcome extends Target {
  succeeded: boolean;
  /** null if no response came. */
  status: number | null;
  at: Date;
}

/** Sums up attempts per endpoint and the settings it had at the time. */
export function summariseHealth(outcomes: readonly AttemptOutcome[]): Health[] {
  const byTarget = new Map<string, Health>();
  for (const { webhook_id, url, authorization_value, succeeded, status, at } of outcomes) {
    const name = JSON.stringify([webhook_id, url, authorization_value]);
    const known = byTarget.get(name) ?? { succeeded: false, failures: 0, firstFailureAt: null, isGone: false };
    const next = succeeded
      ? { succeeded: true, failures: 0, firstFailureAt: null, isGone: known.isGone }
      : {
          succeeded: known.succeeded,
          failures: known.failures + 1,
          firstFailureAt: known.firstFailureAt ?? at,
          isGone: known.isGone || status === GONE,
        };
    byTarget.set(name, { webhook_id, url, authorization_value, ...next });
  }
  return [...byTarget.values()];
}

export interface Suspension {
  webhook_id: string;
  app_id: string;
  reason: string;
}

/** Records the health of endpoints whose settings are still the same. Returns those that it suspended. */
export async function recordHealth(db: Kysely<DB>, health: readonly Health[], now: Date): Promise<Suspension[]> {
  const { rows } = await sql<Omit<Suspension, 'reason'> & { reason: string | null }>`
    with given as (
      select * from unnest(
        ${health.map(({ webhook_id }) => webhook_id)}::uuid[],
        ${health.map(({ url }) => url)}::text[],
        ${health.map(({ authorization_value }) => authorization_value)}::text[],
        ${health.map(({ succeeded }) => succeeded)}::boolean[],
        ${health.map(({ failures }) => failures)}::int[],
        ${health.map(({ firstFailureAt }) => firstFailureAt)}::timestamptz[],
        ${health.map(({ isGone }) => isGone)}::boolean[]
      ) as s (webhook_id, url, authorization_value, succeeded, failures, first_failure_at, is_gone)
    ), locked as (
      select w.* from webhook w where webhook_id in (select webhook_id from given) order by webhook_id for no key update
    ), counted as (
      select l.webhook_id, is_gone, l.state = 'enabled' as may_suspend,
        case when succeeded then s.first_failure_at else coalesce(l.first_failure_at, s.first_failure_at) end as since,
        case when succeeded then 0 else l.failed_attempts end + failures as failed
      from given s join locked l using (webhook_id, url)
      where s.authorization_value is not distinct from l.authorization_value
    ), judged as (
      select *, case
        when not may_suspend then null
        when is_gone then 'answered 410 Gone'
        when since <= ${now}::timestamptz - ${SUSPEND_AFTER}::interval and failed >= ${SUSPEND_AFTER_ATTEMPTS}::int
          then 'nothing but failures for ' || ${SUSPEND_AFTER}::text
        end as reason
      from counted
    )
    update webhook w set
      first_failure_at = since,
      failed_attempts = failed,
      state = case when reason is null then w.state else 'suspended' end,
      state_reason = coalesce(reason, w.state_reason),
      state_changed_at = case when reason is null then w.state_changed_at else ${now} end
    from judged where w.webhook_id = judged.webhook_id
    returning w.webhook_id, w.app_id, reason`.execute(db);
  return rows.filter((row): row is Suspension => row.reason !== null);
}
