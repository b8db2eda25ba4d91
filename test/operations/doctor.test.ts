// `sps doctor`: what it says about a healthy database, and about each thing that can be wrong.
import { randomBytes, randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CHART_IDS } from '../../src/analytics/catalogue.ts';
import { createDb } from '../../src/db/client.ts';
import type { Deps } from '../../src/deps.ts';
import { createLog } from '../../src/log.ts';
import { examine } from '../../src/operations/doctor.ts';
import {
  checkDisk,
  judgeClock,
  judgeConnections,
  judgeDisk,
  judgeVersion,
} from '../../src/operations/server-checks.ts';
import { checkCharts, judgeCharts } from '../../src/operations/work-checks.ts';
import { resumeWebhook } from '../../src/webhooks/endpoints.ts';
import { toStored } from '../../src/webhooks/secrets.ts';
import { oneTime, setTransaction } from '../purchases/world.ts';
import { createTestDatabase } from '../setup/database.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';

let service: TestService;
let deps: Deps;
beforeAll(async () => {
  service = await startService();
  deps = { ...service.deps, config: { ...service.deps.config, DATABASE_URL: service.database.url } };
});
afterAll(() => service.close());

async function statesOf(charts = false): Promise<Record<string, string>> {
  return Object.fromEntries((await examine(deps, { charts })).map(({ check, state }) => [check, state]));
}

const messageOf = async (check: string) =>
  (await examine(deps, { charts: false })).find((finding) => finding.check === check)?.message;

describe('on a real database', () => {
  beforeEach(async () => {
    await service.database.db.deleteFrom('webhook').execute();
  });

  test('all is well at first, and every chart is drawn', async () => {
    expect(await statesOf(true)).toEqual({
      database: 'ok',
      connections: 'ok',
      clock: 'ok',
      migrations: 'ok',
      disk: 'unknown',
      webhooks: 'ok',
      totals: 'ok',
      labels: 'ok',
      charts: 'ok',
    });
    expect(await checkCharts(deps)).toMatchObject({ figures: { drawn: CHART_IDS.length, slow: 0 } });
    expect(await checkCharts(deps, 0)).toMatchObject({
      state: 'unknown',
      message: '0 of 19 charts were drawn in the time given.',
    });
    expect(judgeCharts([], 0)).toMatchObject({ state: 'unknown', message: 'There is no app to draw charts of.' });
  });

  test('a chart that the check gives up is not logged as one that took longer than ANALYTICS_TIMEOUT_MS', async () => {
    const lines: string[] = [];
    const log = await createLog('warn', { write: (line) => void lines.push(line) });
    const locked = await service.database.db.startTransaction().execute();
    await sql`lock table fact_install in access exclusive mode`.execute(locked);
    const finding = await checkCharts({ ...deps, log }, 300);
    await locked.rollback().execute();
    expect(finding).toMatchObject({ figures: { drawn: expect.any(Number) } });
    expect(finding.message).toContain('were drawn in the time given');
    expect(lines).toEqual([]);
  });

  async function addWebhook(values: object): Promise<void> {
    await service.database.db
      .insertInto('webhook')
      .values({
        app_id: service.appId,
        url: 'https://example.com/',
        secret: 'whsec_abc',
        state: 'enabled',
        state_changed_at: '2025-01-01T00:00:00Z',
        created_at: '2025-01-01T00:00:00Z',
        ...values,
      })
      .execute();
  }

  test('a webhook that fails is a warning, a suspended one a problem', async () => {
    await addWebhook({ first_failure_at: '2025-01-01T00:00:00Z' });
    expect(await statesOf()).toMatchObject({ webhooks: 'warning' });
    await addWebhook({ state: 'suspended' });
    expect(await statesOf()).toMatchObject({ webhooks: 'problem' });
    expect(await messageOf('webhooks')).toMatch(/1 suspended .*, 1 failing \(see `sps webhook deliveries`\)/);
  });

  test('a webhook that was disabled, or suspended for its failures, does not also count as failing', async () => {
    await addWebhook({ state: 'disabled', first_failure_at: '2025-01-01T00:00:00Z' });
    expect(await messageOf('webhooks')).toBe('0 webhooks are enabled; everything is delivered.');
    await addWebhook({ state: 'suspended', first_failure_at: '2025-01-01T00:00:00Z' });
    expect(await messageOf('webhooks')).toMatch(/^Webhooks: 1 suspended \([^)]*\)\.$/);
  });

  test('dead deliveries are reported as long as there is a webhook to replay them to', async () => {
    await addWebhook({});
    const { db } = service.database;
    await sql`
      insert into webhook_delivery (sequence, webhook_id, profile_id, state)
      select n, webhook_id, gen_random_uuid(), ended.state
      from webhook, (values (1, 'dead'), (6, 'delivered')) ended (n, state)`.execute(db);
    expect(await messageOf('webhooks')).toContain('1 dead delivery');
    await db.deleteFrom('webhook').execute();
    expect(await statesOf()).toMatchObject({ webhooks: 'ok' });
  });

  test('pending deliveries are not reported as delivered', async () => {
    await addWebhook({});
    const { db } = service.database;
    await sql`
      insert into webhook_delivery (sequence, webhook_id, profile_id) select 2, webhook_id, gen_random_uuid() from webhook`.execute(
      db,
    );
    expect(await messageOf('webhooks')).toBe('1 webhook is enabled; 1 delivery is pending.');
    await sql`update webhook_delivery set queued_at = now() - interval '1 hour' where sequence = 2`.execute(db);
    expect(await messageOf('webhooks')).toMatch(
      /1 delivery is pending, the oldest for 60 min \(see `sps webhook deliveries`\)/,
    );
    await db
      .deleteFrom('webhook_delivery')
      .where('sequence', '=', '2' as never)
      .execute();
    expect(await messageOf('webhooks')).toBe('1 webhook is enabled; everything is delivered.');
    await db.deleteFrom('webhook').execute();
  });

  test('deliveries that wait for a suspended webhook are not pending', async () => {
    await addWebhook({ state: 'suspended' });
    const { db } = service.database;
    await sql`
      insert into webhook_delivery (sequence, webhook_id, profile_id, queued_at)
      select n, webhook_id, gen_random_uuid(), clock_timestamp() + make_interval(hours => hours)
      from webhook, (values (4, -1), (5, 1)) waiting (n, hours)`.execute(db);
    expect(await messageOf('webhooks')).toMatch(/^Webhooks: 1 suspended \([^)]*\)\.$/);
    expect((await examine(deps, { charts: false })).find(({ check }) => check === 'webhooks')?.figures).toMatchObject({
      pending: 0,
      oldest_pending_seconds: null,
      ahead_of_clock: 0,
    });
    await sql`delete from webhook_delivery where sequence in (4, 5)`.execute(db);
  });

  test('deliveries that are delayed because the clock was set back are reported', async () => {
    await addWebhook({});
    const { db } = service.database;
    const set = (column: 'queued_at' | 'due_at', hours: number) =>
      sql`update webhook_delivery set ${sql.ref(column)} = clock_timestamp() + make_interval(hours => ${hours})`.execute(
        db,
      );
    await sql`
      insert into webhook_delivery (sequence, webhook_id, profile_id) select 3, webhook_id, gen_random_uuid() from webhook`.execute(
      db,
    );
    await set('queued_at', 1);
    expect(await messageOf('webhooks')).toMatch(/1 delivery is scheduled in the future because .*`sps webhook resume`/);
    // Clocks of processes are not exactly alike.
    await sql`update webhook_delivery set queued_at = clock_timestamp() + interval '30 s'`.execute(db);
    expect(await messageOf('webhooks')).toBe('1 webhook is enabled; 1 delivery is pending.');
    await set('queued_at', 0);
    await set('due_at', 9);
    expect(await messageOf('webhooks')).toBe('1 webhook is enabled; 1 delivery is pending.');
    await set('due_at', 10);
    expect(await statesOf()).toMatchObject({ webhooks: 'warning' });

    await set('queued_at', 10);
    const { webhook_id } = await db.selectFrom('webhook').select('webhook_id').executeTakeFirstOrThrow();
    await resumeWebhook(deps, webhook_id);
    expect(await messageOf('webhooks')).toBe('1 webhook is enabled; 1 delivery is pending.');
    await sql`delete from webhook_delivery where sequence = 3`.execute(db);
  });

  test('a secret that cannot be opened is a problem', async () => {
    const keys = { SPS_ENCRYPTION_KEY: randomBytes(32), SPS_ENCRYPTION_KEY_PREVIOUS: undefined };
    const webhook_id = randomUUID();
    await addWebhook({ webhook_id, secret: toStored('whsec_abc', keys) });
    expect(await statesOf()).toMatchObject({ 'webhook secrets': 'problem' });
    expect(await messageOf('webhook secrets')).toMatch(
      new RegExp(
        `those of ${webhook_id} are encrypted with the key [0-9a-f]{8}, which is neither .*: configure the missing key`,
      ),
    );
    deps = { ...deps, config: { ...deps.config, ...keys } };
    expect((await statesOf())['webhook secrets']).toBeUndefined();
    await sql`update webhook set secret = left(secret, 30)`.execute(service.database.db);
    expect(await messageOf('webhook secrets')).toMatch(/, but altered since: .* remove the webhook/);
  });

  test('a secret in clear is a warning if there is a key', async () => {
    await addWebhook({ secret: 'whsec_abc' });
    const withKey = (SPS_ENCRYPTION_KEY: Buffer | undefined) => {
      deps = { ...deps, config: { ...deps.config, SPS_ENCRYPTION_KEY } };
    };
    withKey(undefined);
    expect((await statesOf())['webhook secrets']).toBeUndefined();
    withKey(randomBytes(32));
    expect(await messageOf('webhook secrets')).toMatch(/1 webhook are stored in clear/);
    const keys = { SPS_ENCRYPTION_KEY: randomBytes(32), SPS_ENCRYPTION_KEY_PREVIOUS: undefined };
    deps = { ...deps, config: { ...deps.config, ...keys } };
    await service.database.db.deleteFrom('webhook').execute();
    await addWebhook({ secret: toStored('whsec_new', keys), previous_secret: 'whsec_abc' });
    expect(await messageOf('webhook secrets')).toMatch(/1 webhook are stored in clear/);
  });

  test('facts that are pending for the totals are counted', async () => {
    const { db } = service.database;
    const { app_key } = service.app;
    await sql`
      insert into fact_pending (app_key, profile_id, purchase_no)
      select ${app_key}::int, gen_random_uuid(), g from generate_series(1, 100001) g`.execute(db);
    expect(await statesOf()).toMatchObject({ totals: 'warning', labels: 'ok' });
    expect(await messageOf('totals')).toContain('100001 facts');
    await sql`delete from fact_pending`.execute(db);
    await addProfile(service, 'anna');
    expect(await statesOf()).toMatchObject({ totals: 'ok' });
  });

  test('facts of which the totals have an earlier image or label are counted, too', async () => {
    const { db } = service.database;
    const named = { key: service.secretKey, headers: { 'service-customer-user-id': 'bert' } };
    await service.call('POST', '/api/v2/server-side-api/profile/', { ...named, body: {} });
    expect((await setTransaction(service, 'bert', oneTime())).status).toBe(200);
    await sql`insert into fact_retired select * from fact_transaction`.execute(db);
    await sql`insert into fact_moved select 1, * from fact_transaction`.execute(db);
    expect(await messageOf('totals')).toBe('3 facts are waiting to be added to the totals.');
    await sql`truncate fact_pending, fact_retired, fact_moved`.execute(db);
    expect(await messageOf('totals')).toBe('0 facts are waiting to be added to the totals.');
  });

  test('profiles whose label is pending are counted', async () => {
    const { db } = service.database;
    const { app_key } = service.app;
    await sql`
      insert into label_pending (app_key, profile_id, queue_no, earlier_key, attribution_key)
      select ${app_key}::int, gen_random_uuid(), g, 1, 2 from generate_series(1, 100001) g`.execute(db);
    expect(await statesOf()).toMatchObject({ totals: 'ok', labels: 'warning' });
    expect(await messageOf('labels')).toContain('The facts of 100001 profiles are waiting');
    await sql`delete from label_pending where queue_no = 1`.execute(db);
    expect(await statesOf()).toMatchObject({ labels: 'ok' });
    await sql`delete from label_pending`.execute(db);
  });

  test('a missing migration is a warning, a migration of a newer program a problem', async () => {
    const { db } = service.database;
    const taken = await db
      .deleteFrom('schema_migration' as never)
      .where('name' as never, '=', '0006_totals.sql' as never)
      .returningAll()
      .execute();
    expect(await messageOf('migrations')).toContain('not yet applied: 0006_totals.sql');
    await db
      .insertInto('schema_migration' as never)
      .values(taken as never)
      .execute();
    await sql`insert into schema_migration (name, sha256) values ('9999_later.sql', '')`.execute(db);
    expect(await statesOf()).toMatchObject({ migrations: 'problem' });
    await sql`delete from schema_migration where name = '9999_later.sql'`.execute(db);
  });
});

test('a role that is not a superuser is enough, and counts the connections of others', async () => {
  const role = `sps_plain_${randomBytes(6).toString('hex')}`;
  const { db } = service.database;
  await sql`create role ${sql.ref(role)} login password 'plain'`.execute(db);
  await sql`grant pg_read_all_data to ${sql.ref(role)}`.execute(db);
  await sql`alter role ${sql.ref(role)} connection limit 12`.execute(db);
  const url = new URL(service.database.url);
  url.username = role;
  url.password = 'plain';
  const settings = { max: 2, statementTimeoutMs: 5_000, applicationName: 'doctor', connectionString: url.href };
  const plain = createDb(settings, () => {});
  const findings = await examine({ ...deps, db: plain, analyticsDb: plain }, { charts: false });
  expect(findings.filter(({ state }) => state === 'problem')).toEqual([]);
  const { message, figures } = findings.find(({ check }) => check === 'connections') ?? {};
  expect(figures?.connections).toBeGreaterThan(2);
  expect(message).toMatch(/of 12: .* raise the connection limit of the role/);
  await plain.destroy();
  await sql`drop role ${sql.ref(role)}`.execute(db);
});

test('an empty database is reported as empty, and not examined further', async () => {
  const empty = await createTestDatabase('template template0');
  const findings = await examine({ ...deps, db: empty.db, analyticsDb: empty.db }, { charts: true });
  await empty.close();
  expect(findings.map(({ check, state }) => [check, state])).toEqual([
    ['database', 'ok'],
    ['connections', 'ok'],
    ['clock', 'ok'],
    ['migrations', 'warning'],
    ['disk', 'unknown'],
  ]);
  expect(findings[3]?.message).toBe('The database is empty: start the service, or run `sps migrate`.');
});

test('if the database cannot be reached, every check reports a problem and doctor goes on to the end', async () => {
  const settings = { max: 1, statementTimeoutMs: 1_000, applicationName: 'doctor' };
  const db = createDb({ ...settings, connectionString: 'postgres://postgres@127.0.0.1:9/x' }, () => {});
  const findings = await examine({ ...deps, db, analyticsDb: db }, { charts: true });
  await db.destroy();
  expect(findings.map(({ check, state }) => [check, state])).toEqual([
    ['database', 'problem'],
    ['migrations', 'problem'],
    ['disk', 'unknown'],
    ['webhooks', 'problem'],
    ['totals', 'problem'],
    ['charts', 'problem'],
  ]);
  expect(findings[0]?.message).toBe('The check failed: connect ECONNREFUSED 127.0.0.1:9.');
});

test('a chart that fails is a problem, not a fast chart; nothing is drawn unless asked for', async () => {
  const settings = { max: 1, statementTimeoutMs: 1_000, applicationName: 'doctor' };
  const analyticsDb = createDb({ ...settings, connectionString: 'postgres://postgres@127.0.0.1:9/x' }, () => {});
  const chartsOf = async (charts: boolean) =>
    (await examine({ ...deps, analyticsDb }, { charts })).find(({ check }) => check === 'charts');
  expect(await chartsOf(true)).toMatchObject({ state: 'problem' });
  expect(await chartsOf(false)).toBeUndefined();
  await analyticsDb.destroy();
});

test('the space of a disk is what its file system says', async () => {
  const { blocks, bsize } = await statfs(tmpdir());
  const { figures } = await checkDisk(tmpdir());
  expect(figures?.all_bytes).toBe(blocks * bsize);
  expect(figures?.free_bytes).toBeLessThan(blocks * bsize);
});

describe('judgements', () => {
  const facts = {
    version: '15.4',
    version_number: 150_004,
    clock_ms: 0,
    connections: 10,
    most_connections: 100,
    reserved_connections: 3,
    role_limit: null,
    database_limit: null,
    encoding: 'UTF8',
    database_bytes: 0,
    takes_writes: true,
  };

  test.each([
    [150_000, 'ok'],
    [180_001, 'ok'],
    [140_009, 'warning'],
    [190_000, 'warning'],
  ])('of the version %i: %s', (version_number, state) => {
    expect(judgeVersion({ ...facts, version_number }).state).toBe(state);
  });

  test('of connections', () => {
    expect(judgeConnections({ ...facts, connections: 80 }, 97).state).toBe('ok');
    expect(judgeConnections({ ...facts, connections: 81 }, 97).state).toBe('warning');
    expect(judgeConnections({ ...facts, connections: 80 }, 98).state).toBe('warning');
  });

  test('of the limit that is reached first', () => {
    const message = (limits: object) => judgeConnections({ ...facts, ...limits }, 30).message;
    expect(message({})).toMatch(/takes up to 30 of 97\.$/);
    expect(message({ role_limit: 12 })).toMatch(/up to 30 of 12: .* raise the connection limit of the role\.$/);
    expect(message({ role_limit: 30, database_limit: 29 })).toMatch(
      /of 29: .* the connection limit of the database\.$/,
    );
  });

  test('of an encoding that loses texts', () => {
    expect(judgeVersion({ ...facts, encoding: 'LATIN1' }).state).toBe('problem');
  });

  test.each([
    [900, 0, 'ok'],
    [1_500, 600, 'ok'],
    [-1_500, 0, 'warning'],
    [31_000, 0, 'problem'],
  ])('of a clock %i ms ahead, seen within %i ms: %s', (skew, roundTrip, state) => {
    expect(judgeClock(skew, roundTrip).state).toBe(state);
  });

  test.each([
    [31_000, "The database's clock is 31.0 s ahead of this machine's"],
    [-1_500, "The database's clock is 1.5 s behind this machine's"],
  ])('of a clock %i ms ahead say which one is ahead', (skew, message) => {
    expect(judgeClock(skew, 0).message).toContain(message);
  });

  test.each([
    [100, 200, 'ok'],
    [6, 1_000, 'ok'],
    [4, 20, 'ok'],
    [4, 100, 'warning'],
    [0.5, 1, 'problem'],
  ])('of %d GiB free of %d: %s', (free, all, state) => {
    expect(judgeDisk(free * 1024 ** 3, all * 1024 ** 3).state).toBe(state);
  });

  test('of charts name the slowest one', () => {
    const timed = [
      { app_id: 'a', chart_id: 'mrr', ms: 2_001 },
      { app_id: 'a', chart_id: 'arr', ms: 10 },
    ];
    expect(judgeCharts(timed, 4)).toMatchObject({
      state: 'warning',
      message: expect.stringMatching(/mrr of the app a, took 2001 ms\. Only 2 of 4/),
    });
    expect(judgeCharts(timed, 2).message).not.toContain('Only');
  });
});
