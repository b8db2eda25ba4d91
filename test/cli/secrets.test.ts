// What sps secrets rotate tells people.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { createSps, PATIENCE, type Sps } from './sps.ts';

let database: TestDatabase;
let inClear: Sps;
let encrypting: Sps;
beforeAll(async () => {
  database = await createTestDatabase();
  inClear = createSps({ DATABASE_URL: database.url });
  encrypting = createSps({ DATABASE_URL: database.url, SPS_ENCRYPTION_KEY: randomBytes(32).toString('hex') });
});
afterAll(async () => {
  inClear.close();
  encrypting.close();
  await database.close();
});

test('secrets rotate says whose secrets it encrypted, or that there was nothing to do', PATIENCE, async () => {
  const { app_id } = await inClear.json('app', 'create', '--name', 'Shop');
  const add = (sps: Sps) => sps.json('webhook', 'add', '--app', app_id, '--url', 'https://example.com/', '--no-verify');
  const rotate = async () => {
    const { stdout } = await encrypting.attempt('secrets', 'rotate');
    return stdout.replace(/key [0-9a-f]{8}/, 'key K');
  };
  expect(await rotate()).toBe('Nothing to encrypt: there are no webhooks.\n');
  await add(inClear);
  await add(inClear);
  expect(await rotate()).toBe('Encrypted the secrets of 2 webhooks with the key K.\n');
  expect(await rotate()).toBe('Nothing to encrypt: the secrets of 2 webhooks are already encrypted with the key K.\n');

  const rows = await database.db.selectFrom('webhook').select('webhook_id').execute();
  const [first] = rows as [(typeof rows)[number]];
  await database.db
    .updateTable('webhook')
    .set({ secret: 'whsec_c2VjcmV0' })
    .where('webhook_id', '=', first.webhook_id)
    .execute();
  expect(await rotate()).toBe('Encrypted the secrets of 1 webhook with the key K; those of 1 webhook already were.\n');
});
