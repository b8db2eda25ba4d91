// Writes the requests of the load generator as the text that goes over the wire.
import { type Random, randomOf } from '../data/random.ts';
import { ATTRIBUTIONS, pickAttribution } from '../data/vocabulary.ts';

export interface Requests {
  kind: 'attribution' | 'grant' | 'transaction' | 'empty' | 'replay';
  path: string;
  /** The key in the Authorization header. */
  key?: string;
  /** How many profiles there are; requests name random ones. */
  people?: number;
  seed: number;
  /** The bodies that `replay` sends in turn. */
  bodies?: readonly string[];
}

interface Post {
  path: string;
  /** Each ends with a line break. */
  headers: string;
  body: string;
}

export function authorizedBy(key: string): string {
  return `Authorization: Api-Key ${key}\r\n`;
}

export function post({ path, headers, body }: Post): string {
  const type = body === '' ? '' : 'Content-Type: application/json\r\n';
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}${type}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const MEMBERS = new Map(ATTRIBUTIONS.map((one) => [one, JSON.stringify(one).slice(1, -1)]));

/** Returns a body that changes the record, because its user id is new each time. */
function attributionBody(random: Random, people: number, id: string): string {
  const members = MEMBERS.get(pickAttribution(random));
  return `{${members},"attribution_user_id":"${id}","customer_user_id":"user-${random.below(people)}"}`;
}

function grantBody(random: Random): string {
  const expires = new Date(Date.UTC(2100, 0, 1) + random.below(1e9) * 1000).toISOString();
  return `{"access_level_id":"premium","expires_at":"${expires}"}`;
}

function transactionBody(random: Random, id: string): string {
  const now = Date.now() - random.below(3_600_000);
  const record = {
    purchase_type: 'subscription',
    store: 'app_store',
    store_product_id: 'com.example.monthly.v1',
    store_transaction_id: `${id}-0`,
    store_original_transaction_id: id,
    price: { country: 'US', currency: 'USD', value: 9.99 },
    purchased_at: new Date(now).toISOString(),
    originally_purchased_at: new Date(now).toISOString(),
    expires_at: new Date(now + 30 * 86_400_000).toISOString(),
    renew_status: true,
  };
  return JSON.stringify(record);
}

/** Returns a function that makes the next request. */
export function createRequests({ kind, path, key, people = 1, seed, bodies = [] }: Requests): () => string {
  const random = randomOf(seed, 1);
  const run = `${Date.now().toString(36)}-${seed}`;
  const headers = key === undefined ? '' : authorizedBy(key);
  const named = () => `${headers}service-customer-user-id: user-${random.below(people)}\r\n`;
  let number = 0;
  const makers = {
    attribution: () => post({ path, headers, body: attributionBody(random, people, `${run}-${number++}`) }),
    grant: () => post({ path, headers: named(), body: grantBody(random) }),
    transaction: () => post({ path, headers: named(), body: transactionBody(random, `${run}-${number++}`) }),
    empty: () => post({ path, headers, body: '' }),
    replay: () => post({ path, headers, body: bodies[number++ % bodies.length] as string }),
  };
  return makers[kind];
}
