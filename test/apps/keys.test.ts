// Apps and their keys (decisions.md 2): the form of a key, what is stored of it, issuing and revoking.
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addAccessLevel,
  createApp,
  createKey,
  listAccessLevels,
  listApps,
  listKeys,
  revokeKey,
} from '../../src/apps/service.ts';
import { OperatorError } from '../../src/operator-error.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
let appId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  appId = (await createApp(database, { name: 'Shop' })).app.app_id;
});
afterAll(() => database.close());

test('a new app has a public and a secret key, and the default settings', async () => {
  const { app, public_key, secret_key } = await createApp(database, { name: 'Defaults' });
  expect(app).toMatchObject({
    timezone: 'UTC',
    profile_shape: 'dictionary',
    attribution_policy: 'last',
    sharing: 'refuse',
  });
  expect(public_key).toMatch(/^public_live_[0-9A-Za-z]{8}\.[0-9A-Za-z]{32}$/);
  expect(secret_key).toMatch(/^secret_live_[0-9A-Za-z]{8}\.[0-9A-Za-z]{32}$/);
});

test('only the first part of a key and a SHA-256 of the whole are stored', async () => {
  const { key, key_id } = await createKey(database, { appId, kind: 'secret' });
  const stored = await database.db
    .selectFrom('api_key')
    .selectAll()
    .where('key_id', '=', key_id)
    .executeTakeFirstOrThrow();
  expect(stored.prefix).toBe(key.split('.')[0]);
  expect(stored.sha256).toEqual(createHash('sha256').update(key).digest());
  expect(JSON.stringify(stored)).not.toContain(key.split('.')[1]);
});

test('keys are listed oldest first, including revoked ones, without their hash', async () => {
  const { app } = await createApp(database, { name: 'Lister' });
  const { key_id } = await createKey(database, { appId: app.app_id, kind: 'public' });
  await revokeKey(database, key_id);
  const keys = await listKeys(database, app.app_id);
  expect(keys).toHaveLength(3);
  expect(keys.at(-1)).toMatchObject({ key_id, kind: 'public', revoked_at: expect.any(String) });
  expect(keys.every((key) => !('sha256' in key))).toBe(true);
});

test('revoking a key twice keeps the first time', async () => {
  const { key_id } = await createKey(database, { appId, kind: 'public' });
  const first = await revokeKey(database, key_id);
  expect(await revokeKey(database, key_id)).toEqual(first);
});

test('names are counted in code points', async () => {
  const name = '💡'.repeat(255);
  await createApp(database, { name });
  expect((await listApps(database)).map((app) => app.name)).toContain(name);
  await addAccessLevel(database, appId, name);
  expect((await listAccessLevels(database, appId)).map((level) => level.access_level_id)).toContain(name);
});

test('an access level that is added twice exists once', async () => {
  const { app } = await createApp(database, { name: 'twice' });
  await addAccessLevel(database, app.app_id, 'premium');
  await addAccessLevel(database, app.app_id, 'premium');
  expect(await listAccessLevels(database, app.app_id)).toMatchObject([{ access_level_id: 'premium' }]);
});

test.each<[string, () => Promise<unknown>]>([
  ['a zone that does not exist', () => createApp(database, { name: 'x', timezone: 'Mars/Base' })],
  ['no name', () => createApp(database, { name: ' ' })],
  ['a name too long', () => createApp(database, { name: 'x'.repeat(256) })],
  ['an app that does not exist', () => listKeys(database, randomUUID())],
  ['an app id that is not a UUID', () => listKeys(database, 'shop')],
  ['a key that does not exist', () => revokeKey(database, randomUUID())],
  ['a public key of scope analytics', () => createKey(database, { appId, kind: 'public', scope: 'analytics' })],
  ['an access level without a name', () => addAccessLevel(database, appId, '')],
  ['an access level too long', () => addAccessLevel(database, appId, 'x'.repeat(256))],
])('%s is the operator’s mistake, reported in a sentence', async (_, attempt) => {
  const error = await attempt().catch((one: unknown) => one);
  expect(error).toBeInstanceOf(OperatorError);
  expect((error as Error).message).toMatch(/^[A-Z].*[.;]/);
});
