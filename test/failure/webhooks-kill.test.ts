// kill -9 at random moments while two processes take grants and deliver their events.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
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

beforeEach(async () => {
  world = await createWorld();
});

afterEach(async () => {
  await Promise.all(processes.splice(0).map((one) => endProcess(one, 'SIGTERM')));
  await world.close();
});

it('every event of at least 5,000 grants arrives, in order per profile, whatever was killed', {
  timeout: 600_000,
}, async () => {
  const { database, deps, secretKey: key } = world.service;
  const receiver = await world.receive();
  await world.addEndpoint(receiver.url);
  const customers = Array.from({ length: 250 }, (_, i) => `customer-${i}`);
  for (const customer of customers) await world.addProfile(customer);
  for (let i = 0; i < 2; i++) processes.push(await startProcess(database.url));

  // The load lasts until all kills are done, so that each comes while grants are made, however slowly processes start.
  let kills = 0;
  const isEnough = (begun: number) => begun >= GRANTS && kills === KILLS;
  const load = grantUnderLoad({ processes, key, customers, isEnough, clients: 16, pauseMs: 80 });
  for (; kills < KILLS; kills++) {
    await sleep(100 + Math.random() * 900);
    const victim = Math.floor(Math.random() * processes.length);
    await endProcess(processes[victim] as ServiceProcess, 'SIGKILL');
    processes[victim] = await startProcess(database.url);
  }
  const confirmed = await load;
  await drained(deps.db, 90_000);
  const { events, repeats } = await expectAllDelivered(deps.db, receiver.received, confirmed);
  expect(confirmed.size).toBeGreaterThanOrEqual(GRANTS);
  expect(events).toBeGreaterThanOrEqual(confirmed.size);
  process.stdout.write(`${KILLS} kills: ${events} events, ${repeats} repeats\n`);
});
