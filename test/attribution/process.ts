// The built service as a process of its own, attribution load on it, and which posts of the load were confirmed.
import { type Kysely, sql } from 'kysely';
import { Agent, request } from 'undici';
import type { DB } from '../../src/db/types.ts';
import { type Program, startProgram } from '../setup/processes.ts';
import { ATTRIBUTION } from './world.ts';

export type ServiceProcess = Program & { url: string };

/** Starts the service as it is shipped (`npm test` has built it) and waits until it is ready. */
export async function startProcess(env: Record<string, string>): Promise<ServiceProcess> {
  const program = startProgram('dist/main.js', [], { PORT: '0', LOG_LEVEL: 'fatal', ...env });
  const [, url = ''] = await program.printed(/ready: (\S+)\n/);
  return { ...program, url };
}

export interface AttributionLoad {
  url: string;
  key: string;
  /** Numbers of the profiles `user N`, one post each; its attribution_user_id is `post N`. */
  numbers: Iterator<number>;
  clients: number;
}

/** Posts until the numbers or the service end. `confirmed` grows by each number whose post was answered with 201. */
export function postUnderLoad({ url, key, numbers, clients }: AttributionLoad): {
  confirmed: Set<number>;
  ended: Promise<void>;
} {
  const agent = new Agent({ pipelining: 1, connections: clients });
  const confirmed = new Set<number>();

  async function post(n: number): Promise<number> {
    const { statusCode, body } = await request(url + ATTRIBUTION, {
      dispatcher: agent,
      method: 'POST',
      headers: { authorization: `Api-Key ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ status: 'organic', attribution_user_id: `post ${n}`, customer_user_id: `user ${n}` }),
    });
    await body.dump();
    return statusCode;
  }

  async function client(): Promise<void> {
    for (let next = numbers.next(); !next.done; next = numbers.next()) {
      const status = await post(next.value).catch(() => undefined);
      // The service or its database is gone.
      if (status === undefined || status === 503) return;
      if (status !== 201) throw new Error(`the service answered ${status}`);
      confirmed.add(next.value);
    }
  }

  const ended = Promise.all(Array.from({ length: clients }, client)).then(() => agent.destroy());
  return { confirmed, ended };
}

/** Adds profiles `user 1` to `user COUNT`. */
export async function addNumberedProfiles(db: Kysely<DB>, appId: string, count: number): Promise<void> {
  await sql`
    with made as (
      insert into profile (app_id, customer_user_id, installed_at)
      select ${appId}::uuid, 'user ' || n, now() from generate_series(1, ${count}::int) n
      returning app_id, customer_user_id, profile_id
    )
    insert into profile_identity (app_id, customer_user_id, profile_id)
    select app_id, customer_user_id, profile_id from made`.execute(db);
}

/** Returns the numbers whose post is stored. */
export async function listStored(db: Kysely<DB>): Promise<Set<number>> {
  const { rows } = await sql<{ n: number }>`
    select substr(attribution_user_id, 6)::int as n
    from profile join profile_attribution using (app_id, profile_id)
    where attribution_user_id = 'post ' || substr(customer_user_id, 6)`.execute(db);
  return new Set(rows.map(({ n }) => n));
}
