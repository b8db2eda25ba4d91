// How keys are looked up for authentication.
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeyring } from '../../src/apps/keyring.ts';
import { createApp } from '../../src/apps/service.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test('made-up keys are looked up together, so that a valid key does not wait behind each of them', async () => {
  const { app, public_key, secret_key } = await createApp(database, { name: 'Shop' });
  let statements = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const keyring = createKeyring(database.db.withPlugin(counting));
  const madeUp = Array.from({ length: 1_000 }, (_, i) => `secret_live_${String(i).padStart(8, '0')}`);
  const ofApp = [public_key, secret_key].map((key) => key.split('.')[0]!);
  const found = await Promise.all([...madeUp, ...ofApp].map(keyring.findKey));
  expect(found.slice(madeUp.length)).toMatchObject([
    { kind: 'public', scope: 'all', app: { app_id: app.app_id } },
    { kind: 'secret', scope: 'all', app: { app_id: app.app_id } },
  ]);
  expect(found.slice(0, madeUp.length).every((key) => key === undefined)).toBe(true);
  expect(statements).toBeLessThan(50);
});

test('a failed lookup is not remembered: the key is valid again as soon as the database is back', async () => {
  const { app, public_key } = await createApp(database, { name: 'Away' });
  let isAway = true;
  const failing: KyselyPlugin = {
    transformQuery({ node }) {
      if (isAway) throw new Error('away');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const keyring = createKeyring(database.db.withPlugin(failing));
  const [prefix] = public_key.split('.') as [string];
  await expect(keyring.findKey(prefix)).rejects.toThrow('away');
  isAway = false;
  expect(await keyring.findKey(prefix)).toMatchObject({ app: { app_id: app.app_id } });
});
