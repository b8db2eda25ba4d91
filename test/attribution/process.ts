// The built service as a process of its own, attribution load on it, and what of the load was confirmed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { ATTRIBUTION } from './world.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface ServiceProcess {
  url: string;
  child: ChildProcess;
}

/** Starts the service as it is shipped (`npm test` has built it) and waits until it is ready. */
export async function startProcess(env: Record<string, string>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'fatal', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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

export interface AttributionLoad {
  url: string;
  key: string;
  /** Numbers of the profiles `user N` to post for, one post each; the attribution_user_id is `post N`. */
  numbers: Iterator<number>;
  clients: number;
}

/** Posts until the numbers or the service end; gives the numbers whose post was answered by 201, as they grow. */
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
      if (status === undefined) return;
      if (status !== 201) throw new Error(`the service answered ${status}`);
      confirmed.add(next.value);
    }
  }

  const ended = Promise.all(Array.from({ length: clients }, client)).then(() => agent.destroy());
  return { confirmed, ended };
}
