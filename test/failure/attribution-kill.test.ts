// Confirmed attributions survive kill -9 of the service and of the embedded database server with all its processes.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { createDb } from '../../src/db/client.ts';
import type { DB } from '../../src/db/types.ts';
import { addNumberedProfiles, listStored, postUnderLoad, startProcess } from '../attribution/process.ts';
import { createFolder, type Folder, leave } from '../db/embedded-world.ts';

const PROFILES = 60_000;
const CONFIRMED_BEFORE_KILL = 4_000;
const ROUNDS = 5;

let folder: Folder;
beforeEach(async () => {
  folder = await createFolder();
});
afterEach(() => folder.remove());

/** Gives `work` a connection of its own to the embedded server. */
async function withDb<T>(work: (db: Kysely<DB>) => Promise<T>): Promise<T> {
  const user = await folder.use('cli');
  const settings = { connectionString: user.url, max: 1, statementTimeoutMs: 60_000, applicationName: 'test' };
  const db = createDb(settings, () => {});
  try {
    return await work(db);
  } finally {
    await db.destroy();
    await leave(user);
  }
}

test('no confirmed post is missing after the service and its database were killed under load, five times', async () => {
  const env = { SPS_DATA_DIR: folder.path };
  let service = await startProcess(env);
  const key = await withDb(async (db) => {
    const { app, public_key } = await createApp({ db }, { name: 'Kill' });
    await addNumberedProfiles(db, app.app_id, PROFILES);
    return public_key;
  });
  const numbers = Array.from({ length: PROFILES }, (_, index) => index + 1).values();
  const confirmed = new Set<number>();
  for (let round = 1; round <= ROUNDS; round++) {
    const load = postUnderLoad({ url: service.url, key, numbers, clients: 64 });
    while (load.confirmed.size < CONFIRMED_BEFORE_KILL) await sleep(20);
    const serverPid = await folder.serverPid();
    if (serverPid === undefined) throw new Error('the embedded server has no process');
    // Kills the whole process group, so that backends also die in the middle of their commits.
    process.kill(-serverPid, 'SIGKILL');
    service.child.kill('SIGKILL');
    await service.ended;
    await load.ended;
    for (const n of load.confirmed) confirmed.add(n);
    service = await startProcess(env);
  }
  expect(confirmed.size, 'the load ended before the last kill').toBeLessThan(PROFILES);
  const stored = await withDb(listStored);
  expect([...confirmed].filter((n) => !stored.has(n))).toEqual([]);
  service.child.kill('SIGTERM');
  await service.ended;
});
