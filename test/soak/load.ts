// Clients of the three operations. Each has profiles of its own and sends one request at a time, so that the last
// confirmed write to a profile must be found at the end. Requests that are not confirmed are repeated until they are.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { createRandom, type Random } from '../../src/demo/random.ts';
import type { Fleet } from './processes.ts';
import type { SoakWorld } from './world.ts';

const CLIENTS = 8;
const PAUSE_MS = 100;
/** After this time a write counts as refused; restarts take seconds. */
const PATIENCE_MS = 90_000;
const OPERATIONS = [
  { name: 'attribution', weight: 50 },
  { name: 'grant', weight: 40 },
  { name: 'chart', weight: 10 },
] as const;
const CAMPAIGNS = 20;
const GRANT = '/api/v2/server-side-api/purchase/profile/grant/access-level/';

type Operation = (typeof OPERATIONS)[number]['name'];

export interface Load {
  run: () => Promise<void>;
  end: () => void;
  /** How many requests were confirmed, by operation. */
  confirmed: Readonly<Record<Operation, number>>;
  /** How many were repeated because the answer was an error or missing. */
  repeats: () => number;
  /** By customer: the token of the last confirmed record, and the end of the last confirmed grant. */
  attributions: ReadonlyMap<string, string>;
  grants: ReadonlyMap<string, string>;
  /** The ends of all confirmed grants. Each identifies its grant. */
  ends: ReadonlySet<string>;
  /** Requests that were never confirmed or were answered wrongly. */
  faults: readonly string[];
}

interface Settings {
  world: SoakWorld;
  fleet: Fleet;
  rate: number;
  seed: number;
}

interface Ask {
  path: string;
  key: string;
  headers?: Record<string, string>;
  body: object;
  status: number;
}

export function createLoad({ world, fleet, rate, seed }: Settings): Load {
  const { publicKey, secretKey, customers } = world;
  const agent = new Agent({ pipelining: 1, headersTimeout: 40_000, bodyTimeout: 40_000 });
  const confirmed = { attribution: 0, grant: 0, chart: 0 };
  const attributions = new Map<string, string>();
  const grants = new Map<string, string>();
  const ends = new Set<string>();
  const faults: string[] = [];
  const today = new Date().toISOString().slice(0, 10);
  let [next, repeats, isOver] = [0, 0, false];

  async function ask(random: Random, { path, key, headers, body, status }: Ask): Promise<string | undefined> {
    const until = performance.now() + PATIENCE_MS;
    let last = 'no answer';
    while (performance.now() < until) {
      try {
        const response = await request(fleet.url(random.next()) + path, {
          dispatcher: agent,
          method: 'POST',
          headers: { authorization: `Api-Key ${key}`, 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        });
        const text = await response.body.text();
        if (response.statusCode === status) return text;
        last = `${response.statusCode} ${text}`;
        // Repeating it would not help.
        if (response.statusCode < 500) break;
      } catch (error) {
        last = String(error);
      }
      repeats += 1;
      await sleep(PAUSE_MS);
    }
    faults.push(`${path} was not confirmed: ${last}`);
    return undefined;
  }

  async function recordAttribution(random: Random, customer: string): Promise<boolean> {
    const token = `token-${next++}`;
    const campaign = `campaign-${Math.floor(random.next() * CAMPAIGNS)}`;
    const body = { customer_user_id: customer, status: 'non_organic', campaign, attribution_user_id: token };
    const answer = await ask(random, { path: '/api/v2/web-api/attribution/', key: publicKey, body, status: 201 });
    if (answer !== undefined) attributions.set(customer, token);
    return answer !== undefined;
  }

  async function grant(random: Random, customer: string): Promise<boolean> {
    const end = new Date(Date.UTC(2090, 0, 1) + next++ * 1000).toISOString().replace('Z', '000+0000');
    const headers = { 'service-customer-user-id': customer };
    const body = { access_level_id: 'premium', expires_at: end };
    const answer = await ask(random, { path: GRANT, key: secretKey, headers, body, status: 200 });
    if (answer === undefined) return false;
    if (JSON.parse(answer).data.access_levels.premium.expires_at !== end)
      faults.push(`a grant to ${customer} was answered with another expiry date`);
    grants.set(customer, end);
    ends.add(end);
    return true;
  }

  /** Asks for money by campaign while attribution moves it about: the parts must add up to an unchanging total. */
  async function askChart(random: Random): Promise<boolean> {
    const body = { chart_id: 'mrr', segmentation: 'attribution_campaign', filters: { date: [today] } };
    const path = '/api/v1/client-api/metrics/analytics/';
    const answer = await ask(random, { path, key: secretKey, body, status: 200 });
    if (answer === undefined) return false;
    const [total, ...parts] = JSON.parse(answer).data.revenue.data;
    const sum = parts.reduce((all: number, { value }: { value: number }) => all + value, 0);
    if (total.value !== 10 * customers.length || sum !== total.value)
      faults.push(`mrr was ${total.value}, its parts ${sum}`);
    return true;
  }

  const perform = { attribution: recordAttribution, grant, chart: askChart };

  async function client(number: number): Promise<void> {
    const random = createRandom(seed * CLIENTS + number);
    const own = customers.filter((_, i) => i % CLIENTS === number);
    while (!isOver) {
      const due = performance.now() + (CLIENTS / rate) * 1000 * random.between(0.5, 1.5);
      const customer = own[Math.floor(random.next() * own.length)] as string;
      const { name } = random.pick(OPERATIONS);
      if (await perform[name](random, customer)) confirmed[name] += 1;
      await sleep(Math.max(0, due - performance.now()));
    }
  }

  return {
    run: async () => {
      await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
      await agent.destroy();
    },
    end: () => {
      isOver = true;
    },
    confirmed,
    repeats: () => repeats,
    attributions,
    grants,
    ends,
    faults,
  };
}
