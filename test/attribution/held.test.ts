// While an attribution record is locked, posts for its profile wait, and those for others do not.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../src/apps/service.ts';
import { CHARTS_PATH } from '../analytics/import.ts';
import { POOL } from '../setup/database.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { post, readRecord } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { DATABASE_POOL_SIZE: '4' } });
});
afterAll(() => service.close());

test('posts for other profiles are answered while a record is locked, and those for its own once it is released', async () => {
  const names = ['held', 'ben', 'cleo', 'dora'];
  const ids = await Promise.all(names.map((name) => addProfile(service, name)));
  const attribute = (name: string, attribution_user_id: string) =>
    post(service, { status: 'organic', customer_user_id: name, attribution_user_id });
  for (const name of names) expect(await attribute(name, 'first')).toMatchObject({ status: 201 });

  const trx = await service.database.db.startTransaction().execute();
  await sql`select from profile_attribution where profile_id = ${ids[0]} for update`.execute(trx);
  let isHeld = true;
  const waiting = Array.from({ length: 6 }, (_, i) =>
    attribute('held', `late ${i}`).finally(() => expect(isHeld).toBe(false)),
  );
  for (let round = 0; round < 3; round++) {
    const responses = await Promise.all(names.slice(1).map((name) => attribute(name, `round ${round}`)));
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
  }
  isHeld = false;
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(trx);
  await trx.commit().execute();
  for (const response of await Promise.all(waiting)) expect(response).toMatchObject({ status: 201 });
  const record = await readRecord(service, ids[0]!);
  expect(record?.attribution_user_id).toMatch(/^late \d$/);
  // A record is dated when it takes effect, not when it began to wait.
  const dates = [record!, ...record!.superseded].map(({ recorded_at }) => recorded_at);
  expect(dates).toEqual([...dates].sort().reverse());
  expect(dates.slice(0, 6).every((date) => date > rows[0]!.now)).toBe(true);
  expect((await readRecord(service, ids[1]!))?.attribution_user_id).toBe('round 2');
});

test('posts and charts are answered while all connections for other requests are busy', async () => {
  await addProfile(service, 'emil');
  // The database must be asked for two new keys, a new label, and the version of a kept answer.
  const [own, secret] = await Promise.all(
    (['public', 'secret'] as const).map((kind) => createKey(service.deps, { appId: service.appId, kind })),
  );
  const chart = { chart_id: 'installs', filters: { date: ['2025-01-01', '2025-01-31'] } };
  const ask = () => service.call('POST', CHARTS_PATH, { key: secret!.key, body: chart });
  expect(await service.call('POST', CHARTS_PATH, { key: service.secretKey, body: chart })).toMatchObject({
    status: 200,
  });
  const busy = await Promise.all(Array.from({ length: POOL }, () => service.deps.db.startTransaction().execute()));
  try {
    const body = { status: 'non_organic', campaign: 'never seen', customer_user_id: 'emil' };
    expect(await post(service, body, { key: own!.key })).toMatchObject({ status: 201 });
    for (let round = 0; round < 2; round++) expect(await ask()).toMatchObject({ status: 200 });
  } finally {
    for (const trx of busy) await trx.rollback().execute();
  }
});
