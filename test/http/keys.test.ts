// Unknown, revoked and wrong-kind keys cost the same look-ups as good ones, so that timing reveals nothing.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { Kysely, PostgresDialect } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { createKey, revokeKey } from '../../src/apps/service.ts';
import { createPool } from '../../src/db/client.ts';
import type { DB } from '../../src/db/types.ts';
import { ATTRIBUTION } from '../attribution/world.ts';
import { GRANT } from '../grants/world.ts';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
let statements = 0;
let comparisons = 0;
const { timingSafeEqual } = crypto;
let db: Kysely<DB>;
let send: (authorization?: string) => Promise<{ status: number; lookUps: number; comparisons: number }>;
let close: () => Promise<unknown>;

beforeAll(async () => {
  // Counts the calls, and still compares.
  crypto.timingSafeEqual = (a, b) => {
    comparisons++;
    return timingSafeEqual(a, b);
  };
  syncBuiltinESMExports();
  service = await startService();
  const settings = {
    connectionString: service.database.url,
    max: 2,
    statementTimeoutMs: 5_000,
    applicationName: 'counted',
  };
  db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool: createPool(settings, () => {}) }),
    log: () => {
      statements++;
    },
  });
  const { app } = await buildApp({ ...service.deps, db, lookupDb: db });
  close = () => app.close();
  send = async (authorization) => {
    statements = 0;
    comparisons = 0;
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    const { statusCode } = await app.inject({ method: 'POST', url: GRANT, headers, payload: '{}' });
    return { status: statusCode, lookUps: statements, comparisons };
  };
});
afterAll(async () => {
  crypto.timingSafeEqual = timingSafeEqual;
  syncBuiltinESMExports();
  await close();
  await db.destroy();
  await service.close();
});

test('an unknown, malformed or revoked key or one of the wrong kind is looked up and compared once, like a good one', async () => {
  const revoked = await createKey(service.deps, { appId: service.appId, kind: 'secret' });
  await revokeKey(service.deps, revoked.key_id);
  const charts = await createKey(service.deps, { appId: service.appId, kind: 'secret', scope: 'analytics' });
  const good = await createKey(service.deps, { appId: service.appId, kind: 'secret' });
  expect(await send(`Api-Key ${good.key}`)).toEqual({ status: 400, lookUps: 1, comparisons: 1 });
  const bad = [
    `Api-Key secret_live_${'A'.repeat(8)}.${'A'.repeat(32)}`,
    `Api-Key ${revoked.key}`,
    `Api-Key ${charts.key}`,
    `Api-Key ${service.publicKey}`,
    undefined,
  ];
  for (const authorization of bad)
    expect(await send(authorization)).toEqual({ status: 401, lookUps: 1, comparisons: 1 });
});

test('the result of a lookup is cached for a moment; the secret is compared each time', async () => {
  for (const key of [service.secretKey, `secret_live_${'B'.repeat(8)}.${'B'.repeat(32)}`]) {
    await send(`Api-Key ${key}`);
    expect(await send(`Api-Key ${key}`)).toMatchObject({ lookUps: 0, comparisons: 1 });
  }
});

test('many concurrent requests with one key look it up once', async () => {
  const { key } = await createKey(service.deps, { appId: service.appId, kind: 'secret' });
  statements = 0;
  await Promise.all(Array.from({ length: 20 }, () => send(`Api-Key ${key}`)));
  expect(statements).toBeLessThanOrEqual(1);
});

test('a public key that was accepted lets in no other key of its prefix', async () => {
  const send = (key: string) => service.call('POST', ATTRIBUTION, { key, body: {} });
  expect((await send(service.publicKey)).status).toBe(400);
  const [prefix] = service.publicKey.split('.');
  // It is refused again when it is sent again.
  for (let i = 0; i < 2; i++) expect((await send(`${prefix}.${'A'.repeat(32)}`)).status).toBe(401);
});
