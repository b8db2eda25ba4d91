// A chart takes no more than its share: timeouts, slow readers, compressed answers.
import { once } from 'node:events';
import { get as httpGet, request as httpRequest, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDb } from '../../src/db/client.ts';
import { startService, type TestService } from '../setup/service.ts';
import { askChart, CHARTS_PATH, importProfiles } from './import.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ now: () => new Date('2025-06-15T12:00:00Z') });
  await importProfiles(
    service,
    Array.from({ length: 300 }, (_, i) => ({
      customer_user_id: `p${i}`,
      installed_at: '2025-01-05T00:00:00Z',
      attribution: { status: 'organic', campaign: `a rather long name of the campaign number ${i}` },
    })),
  );
});
afterAll(() => service.close());

const INSTALLS = { chart_id: 'installs', filters: { date: ['2025-01-01', '2025-01-31'] } };

/** Counts the clients that run a statement or hold a transaction open; autovacuum does not count. */
async function countBusy(): Promise<number> {
  const { rows } = await sql<{ busy: bigint }>`
    select count(*) as busy from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
      and backend_type = 'client backend' and application_name <> 'holder'`.execute(service.database.db);
  return Number(rows[0]!.busy);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 5_000; Date.now() < end; ) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the condition did not hold within 5 s');
}

describe('a chart that cannot be computed just now', () => {
  let holder: pg.Client;

  /** Keeps everybody from reading installs. */
  beforeEach(async () => {
    holder = new pg.Client({ connectionString: service.database.url, application_name: 'holder' });
    await holder.connect();
    await holder.query('begin; lock table fact_install in access exclusive mode');
  });
  afterEach(() => holder.end());

  test('is given up when a statement exceeds the timeout of its pool: 503 with Retry-After', async () => {
    const usual = service.deps.analyticsDb;
    const settings = {
      connectionString: service.database.url,
      max: 1,
      statementTimeoutMs: 300,
      applicationName: 'charts',
    };
    service.deps.analyticsDb = createDb(settings, () => {});
    try {
      const { status, headers, json } = await askChart(service, INSTALLS);
      expect([status, json.error_code]).toEqual([503, 'service_unavailable']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      await holder.query('rollback');
      expect((await askChart(service, INSTALLS)).status).toBe(200);
    } finally {
      await service.deps.analyticsDb.destroy();
      service.deps.analyticsDb = usual;
    }
  });

  test('is given up when its statements together take too long: 503, and the running statement ends', async () => {
    const lines: string[] = [];
    const onLog = (line: string) => void lines.push(line);
    const impatient = await startService({ env: { ANALYTICS_TIMEOUT_MS: '300' }, onLog });
    const blocker = new pg.Client({ connectionString: impatient.database.url });
    await blocker.connect();
    await blocker.query('begin; lock table fact_install in access exclusive mode');
    const began = performance.now();
    const { status, headers, json } = await askChart(impatient, INSTALLS);
    // Well before any single statement would be given up.
    expect(performance.now() - began).toBeLessThan(5_000);
    expect([status, json.error_code]).toEqual([503, 'service_unavailable']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes('ANALYTICS_TIMEOUT_MS')).map((line) => JSON.parse(line))).toMatchObject(
      [{ level: 40, app_id: impatient.appId, chart_id: 'installs' }],
    );
    await blocker.query('rollback');
    await blocker.end();
    expect((await askChart(impatient, INSTALLS)).status).toBe(200);
    await impatient.close();
  });
});

test('refusing a body of a megabyte takes less than four times as long as parsing it', async () => {
  const unknown = Array.from({ length: 90_000 }, (_, i) => `"k${i}":1`);
  const text = `{"filters":{"date":["2025-01-01"]},${unknown}}`;
  /** Returns the least of five measurements in microseconds of CPU time: a busy machine inflates wall-clock time. */
  async function minCpuMicros(work: () => unknown): Promise<number> {
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const began = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(began);
      times.push(user + system);
    }
    return Math.min(...times);
  }
  const parsing = await minCpuMicros(() => JSON.parse(text));
  const refusing = await minCpuMicros(async () => expect((await askChart(service, text)).status).toBe(400));
  expect(refusing).toBeLessThan(4 * parsing);
});

describe('a slow reader of a CSV', () => {
  test('holds no snapshot', async () => {
    const body = JSON.stringify({
      ...INSTALLS,
      format: 'csv',
      segmentation: 'attribution_campaign',
      period_unit: 'day',
      filters: { date: ['2022-10-01', '2025-05-31'] },
    });
    const request = httpRequest(`${service.url}${CHARTS_PATH}`, {
      method: 'POST',
      headers: { authorization: `Api-Key ${service.secretKey}`, 'content-type': 'application/json' },
    });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    expect(response.statusCode).toBe(200);
    // Nobody waits for the snapshot to be released, so it may still be held when the answer begins.
    await until(async () => (await countBusy()) === 0);
    let length = 0;
    for await (const chunk of response) length += chunk.length;
    expect(length).toBeGreaterThan(20_000_000);
  });
});

describe('compression', () => {
  async function fetchRaw(body: object, encoding: string): Promise<{ encoding: string | undefined; bytes: Buffer }> {
    const request = httpRequest(`${service.url}${CHARTS_PATH}`, {
      method: 'POST',
      headers: {
        authorization: `Api-Key ${service.secretKey}`,
        'content-type': 'application/json',
        'accept-encoding': encoding,
      },
    });
    request.end(JSON.stringify(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const bytes = Buffer.concat(await response.toArray());
    return { encoding: response.headers['content-encoding'], bytes };
  }

  test.each([
    ['json', 'gzip', gunzipSync],
    ['json', 'br', brotliDecompressSync],
    ['csv', 'gzip', gunzipSync],
    ['csv', 'br', brotliDecompressSync],
  ] as const)('a chart in %s is compressed with %s', async (format, asked, expand) => {
    const body = { ...INSTALLS, format, segmentation: 'attribution_campaign' };
    const plain = await fetchRaw(body, 'identity');
    const small = await fetchRaw(body, asked);
    expect([plain.encoding, small.encoding]).toEqual([undefined, asked]);
    expect(expand(small.bytes).equals(plain.bytes)).toBe(true);
    expect(small.bytes.length).toBeLessThan(plain.bytes.length / 5);
  });

  test('a health check is not compressed', async () => {
    const [response] = (await once(
      httpGet(`${service.url}/healthz`, { headers: { 'accept-encoding': 'gzip, br' } }),
      'response',
    )) as [IncomingMessage];
    await response.toArray();
    expect(response.headers['content-encoding']).toBeUndefined();
  });
});
