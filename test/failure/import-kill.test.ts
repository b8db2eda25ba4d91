// An sps import that is killed, or asked to end, in the middle: what it leaves, and what the same command then does.
import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createImportWorld, type ImportWorld, lines, purchase } from '../cli/import-world.ts';
import { ended } from '../cli/sps.ts';

let world: ImportWorld;
beforeAll(async () => {
  world = await createImportWorld();
});
afterAll(() => world.close());

/** More than the first batch, less than the first two. */
const PEOPLE = 5_000;

/**
 * Feeds an import through a pipe that stays open, and sends it the signal once at least `least` records are in; by
 * default that is after the first batch.
 */
async function cutOff(
  kind: 'profiles' | 'transactions',
  records: readonly object[],
  { signal, least = 1 }: { signal: NodeJS.Signals; least?: number },
) {
  const table = kind === 'profiles' ? 'profile' : 'purchase';
  const pipe = join(world.folder, `${kind}-${signal}-${least}.ndjson`);
  execFileSync('mkfifo', [pipe]);
  const before = await world.count(table);
  const child = world.sps.start('import', kind, pipe, '--app', world.app, '--json');
  const end = ended(child);
  const feed = createWriteStream(pipe).on('error', () => undefined);
  feed.write(lines(records));
  while ((await world.count(table)) - before < least) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill(signal);
  const outcome = await end;
  feed.destroy();
  return { ...outcome, added: (await world.count(table)) - before };
}

test('an import that is killed in the middle and run again writes everything once, and a further run changes nothing', async () => {
  const users = Array.from({ length: PEOPLE }, (_, index) => `user-${index}`);
  const profiles = users.map((customer_user_id) => ({ customer_user_id, country: 'DE' }));
  const transactions = users.map((user) => purchase(user, `t-${user}`));
  const [people, bought] = [await world.count('profile'), await world.count('purchase')];

  for (const [kind, records] of [['profiles', profiles] as const, ['transactions', transactions] as const]) {
    const killed = await cutOff(kind, records, { signal: 'SIGKILL' });
    expect(killed.stdout).toBe('');
    expect(killed.added).toBeLessThan(PEOPLE);
    const file = await world.write(`${kind}.ndjson`, records);
    const finished = await world.sps.json('import', kind, file, '--app', world.app);
    const missing = PEOPLE - killed.added;
    expect(finished).toEqual({ read: PEOPLE, written: missing, unchanged: killed.added, rejected: 0 });
    const again = await world.sps.json('import', kind, file, '--app', world.app);
    expect(again).toEqual({ read: PEOPLE, written: 0, unchanged: PEOPLE, rejected: 0 });
  }
  expect(await world.count('profile')).toBe(people + PEOPLE);
  expect(await world.count('fact_install')).toBe(people + PEOPLE);
  expect(await world.count('purchase')).toBe(bought + PEOPLE);
  expect(await world.count('fact_transaction')).toBe(bought + PEOPLE);
});

test('an import that is killed while it writes two batches and run again writes everything once', async () => {
  // A first batch of 1,000, two full ones of 10,000 that are written at the same time, and the beginning of a fourth.
  const users = Array.from({ length: 22_000 }, (_, index) => `many-${index}`);
  const transactions = users.map((user) => purchase(user, `t-${user}`));
  const people = await world.write(
    'many.ndjson',
    users.map((customer_user_id) => ({ customer_user_id })),
  );
  await world.sps.json('import', 'profiles', people, '--app', world.app);
  const [bought, facts] = [await world.count('purchase'), await world.count('fact_transaction')];

  const killed = await cutOff('transactions', transactions, { signal: 'SIGKILL', least: 1_001 });
  expect([11_000, 21_000]).toContain(killed.added);
  expect(await world.count('fact_transaction')).toBe(facts + killed.added);
  const file = await world.write('many-transactions.ndjson', transactions);
  const finished = await world.sps.json('import', 'transactions', file, '--app', world.app);
  expect(finished).toEqual({
    read: users.length,
    written: users.length - killed.added,
    unchanged: killed.added,
    rejected: 0,
  });
  expect(await world.count('purchase')).toBe(bought + users.length);
  expect(await world.count('fact_transaction')).toBe(facts + users.length);
});

test('an import that is asked to end while it waits for more keeps what it wrote and says how to go on', async () => {
  const records = Array.from({ length: PEOPLE }, (_, index) => ({ customer_user_id: `late-${index}` }));
  const outcome = await cutOff('profiles', records, { signal: 'SIGTERM' });
  expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('run the same import again') });
  expect(outcome.added).toBeLessThan(PEOPLE);
});
