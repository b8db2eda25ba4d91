// Real service processes on one database, a receiver, and what must hold at the end, whatever happened meanwhile.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Kysely } from 'kysely';
import { Agent, request } from 'undici';
import { expect } from 'vitest';
import type { DB } from '../../src/db/types.ts';
import type { Received } from '../webhooks/receiver.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const GRANT = '/api/v2/server-side-api/purchase/profile/grant/access-level/';

export interface ServiceProcess {
  url: string;
  child: ChildProcess;
}

const children = new Set<ChildProcess>();
// A test that times out must not leave services running.
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts the service as it is shipped and waits until it is ready. */
export async function startProcess(databaseUrl: string): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      PORT: '0',
      LOG_LEVEL: 'fatal',
      RATE_LIMIT_SERVER: '0',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  let output = '';
  while (!output.includes('\n')) {
    const [chunk] = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    output += String(chunk);
  }
  const url = /ready: (\S+?)[,\n]/.exec(output)?.[1];
  if (!url) throw new Error(`the service said ${output}`);
  return { url, child };
}

export async function endProcess({ child }: ServiceProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

export interface GrantLoad {
  /** The processes that may be asked; read again for each grant. */
  processes: readonly ServiceProcess[];
  key: string;
  customers: readonly string[];
  /** Called before each grant with the number of those begun; once it returns true, no more are made. */
  isEnough: (begun: number) => boolean;
  clients: number;
  /** How long a client pauses between two grants. */
  pauseMs: number;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes grants, each identified by its own expiry date. Returns those that were confirmed. */
export async function grantUnderLoad({
  processes,
  key,
  customers,
  isEnough,
  clients,
  pauseMs,
}: GrantLoad): Promise<Set<string>> {
  const agent = new Agent({ pipelining: 1, headersTimeout: 15_000, bodyTimeout: 15_000 });
  const confirmed = new Set<string>();
  let next = 0;

  async function grant(n: number, expires_at: string): Promise<boolean> {
    const { url } = processes[Math.floor(Math.random() * processes.length)] as ServiceProcess;
    const { statusCode, body } = await request(url + GRANT, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        authorization: `Api-Key ${key}`,
        'content-type': 'application/json',
        'service-customer-user-id': customers[n % customers.length] as string,
      },
      body: JSON.stringify({ access_level_id: 'premium', expires_at }),
    });
    await body.dump();
    return statusCode === 200;
  }

  async function client(): Promise<void> {
    while (!isEnough(next)) {
      const n = next++;
      const expires_at = new Date(Date.UTC(2090, 0, 1) + n * 1000).toISOString().replace('Z', '000+0000');
      while (!(await grant(n, expires_at).catch(() => false))) await pause(50);
      confirmed.add(expires_at);
      await pause(pauseMs);
    }
  }

  await Promise.all(Array.from({ length: clients }, client));
  await agent.destroy();
  return confirmed;
}

/** Waits until no delivery is pending. */
export async function drained(db: Kysely<DB>, timeoutMs: number): Promise<void> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const rows = await db
      .selectFrom('webhook_delivery')
      .select((eb) => eb.fn.countAll<bigint>().as('pending'))
      .where('state', '=', 'pending')
      .execute();
    if (rows[0]?.pending === 0n) return;
    if (Date.now() > until) throw new Error(`${rows[0]?.pending} deliveries still wait`);
    await pause(200);
  }
}

/**
 * Expects an event for every confirmed grant, the arrival of every event, first arrivals in order per profile, and
 * nothing left claimed.
 */
export async function expectAllDelivered(
  db: Kysely<DB>,
  received: readonly Received[],
  confirmed: ReadonlySet<string>,
) {
  const events = await db
    .selectFrom('webhook_event')
    .select(['event_id', 'profile_id', 'payload'])
    .orderBy('sequence')
    .execute();
  const ends = new Set(
    events.map(({ payload }) => (payload as { event_properties: { expires_at: string } }).event_properties.expires_at),
  );
  expect([...confirmed].filter((end) => !ends.has(end))).toEqual([]);

  const firstArrival = new Map<string, number>();
  for (const [i, { headers }] of received.entries()) {
    const id = headers['webhook-id'] as string;
    if (!firstArrival.has(id)) firstArrival.set(id, i);
  }
  expect(events.filter(({ event_id }) => !firstArrival.has(event_id))).toEqual([]);
  expect(firstArrival.size).toBe(events.length);
  const bodies = new Map(received.map(({ headers, body }) => [headers['webhook-id'], body]));
  for (const { headers, body } of received) expect(body).toBe(bodies.get(headers['webhook-id']));

  const latest = new Map<string, number>();
  const outOfOrder = events.filter(({ event_id, profile_id }) => {
    const at = firstArrival.get(event_id) as number;
    const isLate = at < (latest.get(profile_id) ?? -1);
    latest.set(profile_id, at);
    return isLate;
  });
  expect(outOfOrder).toEqual([]);

  const left = await db
    .selectFrom('webhook_delivery')
    .select(['state', 'claim_id'])
    .where((eb) => eb.or([eb('state', '<>', 'delivered'), eb('claim_id', 'is not', null)]))
    .execute();
  expect(left).toEqual([]);
  return { events: events.length, repeats: received.length - events.length };
}
