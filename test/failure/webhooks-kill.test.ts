// kill -9 at random moments while two processes take grants and deliver their events.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorld, type World } from '../webhooks/world.ts';
import {
  drained,
  endProcess,
  expectAllDelivered,
  grantUnderLoad,
  type ServiceProcess,
  startProcess,
} from './webhooks-world.ts';

const KILLS = 20;
const GRANTS = 5_000;

let world: World;
const processes: ServiceProcess[] = [];

beforeAll(async () => {
  world = await createWorld();
});

afterAll(async () => {
  await Promise.all(processes.map((one) => endProcess(one, 'SIGTERM')));
  await world.close();
});

it('every event of 5,000 grants arrives, in order per profile, whatever was killed', { timeout: 600_000 }, async () => {
  const { database, deps, secretKey: key } = world.service;
  const receiver = await world.receive();
  await world.addEndpoint(receiver.url);
  const customers = Array.from({ length: 250 }, (_, i) => `customer-${i}`);
  for (const customer of customers) await world.addProfile(customer);
  for (let i = 0; i < 2; i++) processes.push(await startProcess(database.url));

  let isLoaded = true;
  const load = grantUnderLoad({ processes, key, customers, count: GRANTS, clients: 16, pauseMs: 40 }).finally(() => {
    isLoaded = false;
  });
  let killsUnderLoad = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(100 + Math.random() * 900);
    const victim = Math.floor(Math.random() * processes.length);
    await endProcess(processes[victim] as ServiceProcess, 'SIGKILL');
    if (isLoaded) killsUnderLoad += 1;
    processes[victim] = await startProcess(database.url);
  }
  const confirmed = await load;
  await drained(deps.db, 90_000);
  const { events, repeats } = await expectAllDelivered(deps.db, receiver.received, confirmed);
  expect(confirmed.size).toBe(GRANTS);
  expect(events).toBeGreaterThanOrEqual(GRANTS);
  expect(killsUnderLoad).toBeGreaterThanOrEqual(KILLS / 2);
  process.stdout.write(`${KILLS} kills, ${killsUnderLoad} under load: ${events} events, ${repeats} repeats\n`);
});
