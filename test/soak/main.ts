// The soak: two service processes, a receiver that fails now and then, and clients of the three operations. A process
// is killed, the database restarted and crashed; then everything that was confirmed is looked up. Loopback only; prints
// what it did.
import { setTimeout as sleep } from 'node:timers/promises';
import { type RestartableServer, startRestartableServer } from '../failure/webhooks-postgres.ts';
import { type Account, takeAccount } from './account.ts';
import { createLoad, type Load } from './load.ts';
import { Fleet } from './processes.ts';
import { type SoakReceiver, startReceiver } from './receiver.ts';
import { makeWorld, type SoakWorld } from './world.ts';

export interface SoakOptions {
  minutes: number;
  rate: number;
  seed: number;
}

/** What happens, and after which fraction of the whole time. */
const INTERRUPTIONS: readonly [number, string, (parts: Parts) => Promise<unknown>][] = [
  [0.35, 'a process killed', ({ fleet }) => fleet.killAndReplace(1)],
  [0.5, 'the database restarted', ({ server }) => server.restart()],
  [0.65, 'the database crashed', ({ server }) => server.crash()],
];

/** The number of losses that are printed; the count covers the others. */
const SHOWN = 20;

interface Parts {
  server: RestartableServer;
  receiver: SoakReceiver;
  world: SoakWorld;
  fleet: Fleet;
  load: Load;
}

const print = (text: string) => void process.stdout.write(`${text}\n`);

async function interrupt(parts: Parts, lengthMs: number): Promise<void> {
  const begun = performance.now();
  for (const [part, words, act] of INTERRUPTIONS) {
    await sleep(Math.max(0, begun + part * lengthMs - performance.now()));
    const from = performance.now();
    await act(parts);
    print(`${Math.round((from - begun) / 1000)} s: ${words}, ${Math.round(performance.now() - from)} ms`);
  }
  await sleep(Math.max(0, begun + lengthMs - performance.now()));
}

function printAccount({ lines, losses }: Account): void {
  for (const [name, value] of Object.entries(lines)) print(`${name.padEnd(34)} ${value}`);
  for (const loss of losses.slice(0, SHOWN)) print(`LOST: ${loss}`);
  print(losses.length === 0 ? 'nothing was lost' : `${losses.length} losses`);
}

/** Runs the soak. Returns whether nothing was lost. */
export async function soak({ minutes, rate, seed }: SoakOptions): Promise<boolean> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const server = await startRestartableServer();
    stops.unshift(server.stop);
    const receiver = await startReceiver(seed);
    stops.unshift(receiver.close);
    const world = await makeWorld(server.url, receiver);
    const fleet = new Fleet(server.url);
    stops.unshift(() => fleet.stop());
    await fleet.start(2);
    const load = createLoad({ world, fleet, rate, seed });
    print(`seed ${seed}: ${minutes} min, ${rate} requests/s, ${world.customers.length} profiles, 2 processes`);
    const parts = { server, receiver, world, fleet, load };
    const loading = load.run();
    loading.catch(() => undefined);
    await interrupt(parts, minutes * 60_000).finally(() => load.end());
    await loading;
    const account = await takeAccount({ databaseUrl: server.url, ...parts });
    printAccount(account);
    return account.losses.length === 0;
  } finally {
    for (const stop of stops) await stop();
  }
}
