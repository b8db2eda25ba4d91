// Helpers shared by the tests of set transaction.
import { sql } from 'kysely';
import type { ServiceResponse, TestService } from '../setup/service.ts';

export const SET = '/api/v2/server-side-api/purchase/set/transaction/';

/** A period of `monthly` for 10 USD: February 2025 of the chain `c1`, unless the members say otherwise. */
export function period(members: Record<string, unknown> = {}) {
  return {
    purchase_type: 'subscription',
    store: 'app_store',
    store_product_id: 'monthly',
    store_transaction_id: 't1',
    store_original_transaction_id: 'c1',
    price: { country: 'US', currency: 'USD', value: 10 },
    purchased_at: '2025-02-01T00:00:00Z',
    originally_purchased_at: '2025-02-01T00:00:00Z',
    expires_at: '2025-03-01T00:00:00Z',
    renew_status: true,
    ...members,
  };
}

/** A trial during the week before that period. */
export function trial(members: Record<string, unknown> = {}) {
  return period({
    store_transaction_id: 't0',
    price: { country: 'US', currency: 'USD', value: 0 },
    offer: { category: 'introductory', type: 'free_trial' },
    purchased_at: '2025-01-25T00:00:00Z',
    originally_purchased_at: '2025-01-25T00:00:00Z',
    expires_at: '2025-02-01T00:00:00Z',
    ...members,
  });
}

/** A one-time purchase of `gems` for 5 USD. */
export function oneTime(members: Record<string, unknown> = {}) {
  return {
    purchase_type: 'one_time_purchase',
    store: 'app_store',
    store_product_id: 'gems',
    store_transaction_id: 'o1',
    store_original_transaction_id: 'o1',
    price: { country: 'US', currency: 'USD', value: 5 },
    purchased_at: '2025-02-10T00:00:00Z',
    ...members,
  };
}

/** Sets the transaction for the profile of this customer, or for the one that the headers name. */
export function setTransaction(
  service: Pick<TestService, 'call' | 'secretKey'>,
  named: string | Record<string, string>,
  body: unknown,
): Promise<ServiceResponse> {
  const headers = typeof named === 'string' ? { 'service-customer-user-id': named } : named;
  return service.call('POST', SET, { key: service.secretKey, headers, body });
}

const DAY_MS = 86_400_000;

export function inDays(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString();
}

const DATES = [
  'purchased_at',
  'originally_purchased_at',
  'expires_at',
  'billing_issue_detected_at',
  'grace_period_expires_at',
  'refunded_at',
];

/** Lets days go by for the profiles: moves their purchases into the past, because lapses go by the database's clock. */
export async function pass(
  { database: { db } }: Pick<TestService, 'database'>,
  days: number,
  profileIds: readonly string[],
): Promise<void> {
  const by = sql`${`${days} days`}::interval`;
  const earlier = (name: string) => sql`${sql.ref(name)} = ${sql.ref(name)} - ${by}`;
  const isTheirs = sql`profile_id = any(${profileIds}::uuid[])`;
  await sql`update purchase set ${sql.join(DATES.map(earlier))} where ${isTheirs}`.execute(db);
  await sql`update lapse_watch set ${sql.join(['check_at', 'retry_at'].map(earlier))} where ${isTheirs}`.execute(db);
}

/** Lists the events, newest last. */
export async function listEvents({ database: { db } }: TestService, profileId?: string) {
  return (
    db
      .selectFrom('webhook_event')
      .select(['event_type', 'profile_id', 'customer_user_id', 'payload'])
      .$if(profileId !== undefined, (query) => query.where('profile_id', '=', profileId as string))
      .orderBy('sequence')
      // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every type
      .$castTo<{ event_type: string; profile_id: string; customer_user_id: string | null; payload: any }>()
      .execute()
  );
}

/** Adds an endpoint so that events are written; nothing is sent to it. */
export async function addEndpoint({ database: { db }, appId }: Pick<TestService, 'database' | 'appId'>): Promise<void> {
  const now = new Date().toISOString();
  await db
    .insertInto('webhook')
    .values({ app_id: appId, url: 'https://example.com/', secret: 'none', state_changed_at: now, created_at: now })
    .execute();
}

/** Asks for a chart of one year and returns the total of its first metric. */
export async function chartTotal(service: TestService, chart_id: string, year = 2025): Promise<number> {
  const { json } = await service.call('POST', '/api/v1/client-api/metrics/analytics/', {
    key: service.secretKey,
    body: { chart_id, period_unit: 'year', filters: { date: [`${year}-01-01`, `${year}-12-31`] } },
  });
  return Object.values<{ value: number }>(json.data)[0]?.value ?? Number.NaN;
}
