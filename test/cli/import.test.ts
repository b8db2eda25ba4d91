// sps import, as it is run by an operator; and what is left when it is killed.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { createSps, ended, PATIENCE, type Sps } from './sps.ts';

let database: TestDatabase;
let folder: string;
let sps: Sps;
let app: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'sps-import-'));
  sps = createSps({ DATABASE_URL: database.url });
  app = (await sps.json('app', 'create', '--name', 'Import')).app_id;
});
afterAll(async () => {
  sps.close();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

async function write(name: string, records: readonly object[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines(records));
  return path;
}

async function count(table: 'profile' | 'purchase' | 'fact_install' | 'fact_transaction'): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) from ${sql.table(table)}`.execute(database.db);
  return Number(rows[0]?.count);
}

function purchase(user: string, id: string): object {
  return {
    customer_user_id: user,
    purchase_type: 'one_time_purchase',
    store: 'stripe',
    store_product_id: 'coins',
    store_transaction_id: id,
    store_original_transaction_id: id,
    price: { country: 'US', currency: 'USD', value: 1.99 },
    purchased_at: '2025-03-01T00:00:00Z',
  };
}

test('the summary, the rejects and the same file again', PATIENCE, async () => {
  const profiles = await write('p.ndjson', [{ customer_user_id: 'ann' }, { country: 'US' }]);
  const answer = { read: 2, written: 1, unchanged: 0, rejected: 1 };
  expect(await sps.json('import', 'profiles', profiles, '--app', app)).toEqual(answer);
  expect(JSON.parse(await readFile(`${profiles}.rejects.ndjson`, 'utf8'))).toMatchObject({ line: 2 });

  const transactions = await write('t.ndjson', [purchase('ann', 't1')]);
  const first = await sps.run('import', 'transactions', transactions, '--app', app);
  expect(first).toEqual({ code: 0, stderr: '', stdout: 'read       1\nwritten    1\nunchanged  0\nrejected   0\n' });
  const again = await sps.json('import', 'transactions', transactions, '--app', app);
  expect(again).toEqual({ read: 1, written: 0, unchanged: 1, rejected: 0 });
});

test.each([
  ['nowhere.ndjson', 'there is no such file'],
  ['nowhere.xlsx', 'its name must end in .ndjson, .jsonl or .csv'],
])('%s', PATIENCE, async (name, message) => {
  const outcome = await sps.run('import', 'profiles', join(folder, name), '--app', app, '--json');
  expect(outcome).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
});

/** More than the first batch, less than two. */
const PEOPLE = 5_000;

function lines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** Feeds an import through a pipe that stays open, and sends it the signal once so many records are in: by default the first batch. */
async function cutOff(
  kind: 'profiles' | 'transactions',
  records: readonly object[],
  { signal, least = 1 }: { signal: NodeJS.Signals; least?: number },
) {
  const table = kind === 'profiles' ? 'profile' : 'purchase';
  const pipe = join(folder, `${kind}-${signal}-${least}.ndjson`);
  execFileSync('mkfifo', [pipe]);
  const before = await count(table);
  const child = sps.start('import', kind, pipe, '--app', app, '--json');
  const end = ended(child);
  const feed = createWriteStream(pipe).on('error', () => undefined);
  feed.write(lines(records));
  while ((await count(table)) - before < least) await new Promise((resolve) => setTimeout(resolve, 20));
  // It says that it was asked, and must be that far before the input ends: else it may be done first.
  const heard = signal === 'SIGKILL' ? undefined : once(child.stderr as Readable, 'data');
  child.kill(signal);
  if (heard) {
    await heard;
    feed.end();
  }
  const outcome = await end;
  feed.destroy();
  return { ...outcome, added: (await count(table)) - before };
}

test('killed in the middle and run again: all is there once, and once more changes nothing', PATIENCE, async () => {
  const users = Array.from({ length: PEOPLE }, (_, index) => `user-${index}`);
  const profiles = users.map((customer_user_id) => ({ customer_user_id, country: 'DE' }));
  const transactions = users.map((user) => purchase(user, `t-${user}`));
  const [people, bought] = [await count('profile'), await count('purchase')];

  for (const [kind, records] of [['profiles', profiles] as const, ['transactions', transactions] as const]) {
    const killed = await cutOff(kind, records, { signal: 'SIGKILL' });
    expect(killed.stdout).toBe('');
    expect(killed.added).toBeLessThan(PEOPLE);
    const file = await write(`${kind}.ndjson`, records);
    const finished = await sps.json('import', kind, file, '--app', app);
    const missing = PEOPLE - killed.added;
    expect(finished).toEqual({ read: PEOPLE, written: missing, unchanged: killed.added, rejected: 0 });
    const again = await sps.json('import', kind, file, '--app', app);
    expect(again).toEqual({ read: PEOPLE, written: 0, unchanged: PEOPLE, rejected: 0 });
  }
  expect(await count('profile')).toBe(people + PEOPLE);
  expect(await count('fact_install')).toBe(people + PEOPLE);
  expect(await count('purchase')).toBe(bought + PEOPLE);
  expect(await count('fact_transaction')).toBe(bought + PEOPLE);
});

test('killed while two batches are being written and run again: all is there once', PATIENCE, async () => {
  // A first batch of 1,000, two full ones of 10,000 that are written at once, and the beginning of a fourth.
  const users = Array.from({ length: 22_000 }, (_, index) => `many-${index}`);
  const transactions = users.map((user) => purchase(user, `t-${user}`));
  const people = await write(
    'many.ndjson',
    users.map((customer_user_id) => ({ customer_user_id })),
  );
  await sps.json('import', 'profiles', people, '--app', app);
  const [bought, facts] = [await count('purchase'), await count('fact_transaction')];

  const killed = await cutOff('transactions', transactions, { signal: 'SIGKILL', least: 1_001 });
  expect([11_000, 21_000]).toContain(killed.added);
  expect(await count('fact_transaction')).toBe(facts + killed.added);
  const file = await write('many-transactions.ndjson', transactions);
  const finished = await sps.json('import', 'transactions', file, '--app', app);
  expect(finished).toEqual({
    read: users.length,
    written: users.length - killed.added,
    unchanged: killed.added,
    rejected: 0,
  });
  expect(await count('purchase')).toBe(bought + users.length);
  expect(await count('fact_transaction')).toBe(facts + users.length);
});

test('asked to end, it keeps what it wrote and says how to go on', PATIENCE, async () => {
  const records = Array.from({ length: PEOPLE }, (_, index) => ({ customer_user_id: `late-${index}` }));
  const outcome = await cutOff('profiles', records, { signal: 'SIGTERM' });
  expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('run the same import again') });
  expect(outcome.added).toBeLessThan(PEOPLE);
});
