// The operations of the model: their types, arbitrary ones, and the requests for them with comparable answers.
import fc from 'fast-check';
import { createApp } from '../../src/apps/service.ts';
import type { App } from '../../src/deps.ts';
import { GRANT, REVOKE } from '../grants/world.ts';
import { headersOf, type Named, PROFILE } from '../profile/world.ts';
import { period, SET } from '../purchases/world.ts';
import type { ServiceResponse, TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { LEVELS, NOW, REFUNDED_AT } from './model.ts';

export type { Named };

type Attributes = Record<string, string | number | null>;

export type Operation = { named: Named } & (
  | { op: 'create'; attributes: Attributes }
  | { op: 'update'; attributes: Attributes }
  | { op: 'read' | 'delete' }
  | { op: 'attribute'; campaign: string }
  | { op: 'grant'; level: string; from: string | null; until: string | null }
  | { op: 'revoke'; level: string; revokeAt: string | null }
  | { op: 'set'; chain: string; number: number; until: string; price: number; isRefunded: boolean }
);

/** The parts of a profile object that are compared. */
export interface View {
  profile_id: string;
  customer_user_id: string | null;
  custom_attributes: Record<string, string | number>;
  total_revenue_usd: number;
  subscription: string | null;
  access: Record<string, { by: string; from: string | null; until: string | null }>;
}

export interface Outcome {
  status: number;
  error_code?: string;
  view?: View;
}

const wire = (day: string) => `${day}T00:00:00.000000+0000`;
const [PAST, SOON, LATE] = [wire('2025-11-01'), wire('2080-01-01'), wire('2090-01-01')];
export const CUSTOMERS = ['anna', 'bert', 'carl'];

const attributes = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y', 1.5, null), {
  maxKeys: 2,
  noNullPrototype: true,
});
const level = fc.constantFrom('premium', 'premium', 'gold', 'unknown');

/** Arbitrary operations on the profiles that `named` gives; those that create and change them come up more often. */
export function arbitraryOperations(named: fc.Arbitrary<Named>): fc.Arbitrary<Operation>[] {
  const of = (op: Operation['op'], shape: Record<string, fc.Arbitrary<unknown>> = {}) =>
    fc.record({ op: fc.constant(op), named, ...shape }) as fc.Arbitrary<Operation>;
  const create = of('create', { attributes });
  const grant = of('grant', {
    level,
    from: fc.constantFrom(null, null, SOON),
    until: fc.constantFrom(null, PAST, LATE),
  });
  const revoke = of('revoke', { level, revokeAt: fc.constantFrom(null, null, PAST, SOON, LATE) });
  const set = of('set', {
    chain: fc.constantFrom('one', 'two'),
    number: fc.integer({ min: 1, max: 3 }),
    until: fc.constantFrom(PAST, SOON, LATE),
    price: fc.constantFrom(5, 9.75),
    isRefunded: fc.boolean(),
  });
  const attribute = of('attribute', { campaign: fc.constantFrom('spring', 'autumn') });
  const others = [of('update', { attributes }), of('read'), of('delete'), attribute];
  return [create, create, create, grant, grant, revoke, revoke, set, set, set, ...others];
}

/** Names a customer, or the nth profile that was created, or both, or nobody. */
export interface Reference {
  customer?: string;
  nth?: number;
}

export const reference: fc.Arbitrary<Reference> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ customer: fc.constantFrom(...CUSTOMERS) }) },
  { weight: 4, arbitrary: fc.record({ nth: fc.integer({ min: 0, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ customer: fc.constantFrom(...CUSTOMERS), nth: fc.integer({ min: 0, max: 4 }) }) },
  { weight: 1, arbitrary: fc.constant({}) },
);

/** An app of the service, and when it was created; nothing in it is older. */
export interface Client {
  service: TestService;
  app: App;
  publicKey: string;
  secretKey: string;
  madeAt: string;
}

export async function createClient(service: TestService, sharing: App['sharing']): Promise<Client> {
  const { app, public_key, secret_key } = await createApp(service.deps, { name: 'Model', sharing });
  const home = { database: service.database, appId: app.app_id };
  for (const one of LEVELS) await addAccessLevel(home, one);
  await addProduct(home, 'monthly', { access_level_id: 'premium' });
  const madeAt = new Date(Date.now() - 1_000).toISOString();
  return { service, app, publicKey: public_key, secretKey: secret_key, madeAt };
}

interface Request {
  method: string;
  path: string;
  body?: unknown;
}

function requestOf(operation: Operation): Request {
  switch (operation.op) {
    case 'create':
      return { method: 'POST', path: PROFILE, body: { custom_attributes: operation.attributes } };
    case 'update':
      return { method: 'PATCH', path: PROFILE, body: { custom_attributes: operation.attributes } };
    case 'read':
      return { method: 'GET', path: PROFILE };
    case 'delete':
      return { method: 'DELETE', path: PROFILE };
    case 'attribute': {
      const { customer, profile } = operation.named;
      const body = {
        status: 'non_organic',
        campaign: operation.campaign,
        customer_user_id: customer,
        profile_id: profile,
      };
      return { method: 'POST', path: '/api/v2/web-api/attribution/', body };
    }
    case 'grant': {
      const body = { access_level_id: operation.level, starts_at: operation.from, expires_at: operation.until };
      return { method: 'POST', path: GRANT, body };
    }
    case 'revoke':
      return {
        method: 'POST',
        path: REVOKE,
        body: { access_level_id: operation.level, revoke_at: operation.revokeAt },
      };
    case 'set': {
      const purchased_at = wire(`2025-0${operation.number}-01`);
      const body = period({
        store_transaction_id: `${operation.chain}-${operation.number}`,
        store_original_transaction_id: operation.chain,
        price: { country: 'US', currency: 'USD', value: operation.price },
        purchased_at,
        originally_purchased_at: wire('2025-01-01'),
        expires_at: operation.until,
        ...(operation.isRefunded && { refunded_at: REFUNDED_AT, cancellation_reason: 'refund' }),
      });
      return { method: 'POST', path: SET, body };
    }
  }
}

interface ProfileData extends Omit<View, 'subscription' | 'access'> {
  subscriptions: Record<string, { store_transaction_id: string }> | null;
  access_levels: Record<
    string,
    { store: string; store_transaction_id: string; starts_at: string | null; expires_at: string | null }
  > | null;
}

function readView(data: ProfileData, madeAt: string): View {
  const { profile_id, customer_user_id, custom_attributes, total_revenue_usd } = data;
  const endOf = (until: string | null) => (until !== null && until > madeAt && until < SOON ? NOW : until);
  const access = Object.entries(data.access_levels ?? {}).map(([id, one]) => {
    const by = one.store === 'service' ? 'grant' : one.store_transaction_id;
    return [id, { by, from: one.starts_at, until: endOf(one.expires_at) }] as const;
  });
  return {
    profile_id,
    customer_user_id,
    custom_attributes,
    total_revenue_usd,
    subscription: data.subscriptions?.monthly?.store_transaction_id ?? null,
    access: Object.fromEntries(access),
  };
}

export function readOutcome({ status, json }: ServiceResponse, madeAt: string): Outcome {
  if (status >= 400) return { status, error_code: json.error_code };
  return status === 200 ? { status, view: readView(json.data, madeAt) } : { status };
}

/** Sends the operation to the service. */
export function send({ service, publicKey, secretKey }: Client, operation: Operation): Promise<ServiceResponse> {
  const { method, path, body } = requestOf(operation);
  const isPublic = operation.op === 'attribute';
  return service.call(method, path, {
    key: isPublic ? publicKey : secretKey,
    headers: isPublic ? {} : headersOf(operation.named),
    ...(body !== undefined && { body }),
  });
}

async function chart({ service, secretKey }: Client, body: object) {
  const response = await service.call('POST', '/api/v1/client-api/metrics/analytics/', { key: secretKey, body });
  return Object.values<{ value: number; data: { type: string; value: number }[] }>(response.json.data)[0];
}

/** Reads the figures of the model from charts. */
export async function readFigures(client: Client) {
  const date = ['2020-01-01', '2029-12-31'];
  const shape = { period_unit: 'year', filters: { date } };
  const revenue = await chart(client, { ...shape, chart_id: 'revenue', segmentation: 'attribution_campaign' });
  const installs = await chart(client, { ...shape, chart_id: 'installs' });
  const segments = (revenue?.data ?? []).slice(1).map(({ type, value }) => [type, value] as const);
  return { revenue: Object.fromEntries(segments), installs: installs?.value };
}
