// docs/examples/client.js and requests.sh against the real service.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, ServiceError } from '../../docs/examples/client.js';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProfile } from '../setup/world.ts';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('../../docs/examples/requests.sh', import.meta.url));
const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

let service: TestService;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  service = await startService();
  await addAccessLevel(service, 'premium');
  await addProfile(service, 'jörg');
  await addProfile(service, 'user-1');
  client = createClient({ baseUrl: service.url, publicKey: service.publicKey, secretKey: service.secretKey });
});
afterAll(() => service.close());

const listAttributions = () => service.database.db.selectFrom('profile_attribution').select(['profile_id']).execute();

describe('the Node client', () => {
  test('records attribution, whose answer has no body', async () => {
    const before = (await listAttributions()).length;
    expect(await client.recordAttribution({ customer_user_id: 'jörg', status: 'organic' })).toBeUndefined();
    expect(await listAttributions()).toHaveLength(before + 1);
  });

  test('grants to a customer whose id is not ASCII; the same idempotency key grants once', async () => {
    const grant = { access_level_id: 'premium', expires_at: '2090-01-01T00:00:00Z' };
    const first = await client.grantAccessLevel('jörg', grant, 'once');
    expect(first.customer_user_id).toBe('jörg');
    expect(first.access_levels.premium.expires_at).toBe('2090-01-01T00:00:00.000000+0000');
    expect(await client.grantAccessLevel('jörg', grant, 'once')).toEqual(first);
  });

  test('asks for a chart', async () => {
    const metrics = await client.retrieveAnalytics({
      chart_id: 'mrr',
      filters: { date: ['2026-01-01', '2026-03-31'] },
    });
    expect(Object.keys(metrics)).toEqual(['revenue', 'proceeds', 'net_revenue']);
    expect(metrics.revenue.value).toBe(0);
  });

  test('throws the refusal of the service, with the code to branch on and the request id', async () => {
    const failure = await client
      .grantAccessLevel('nobody', { access_level_id: 'premium' })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({ status: 404, code: 'profile_does_not_exist' });
    expect((failure as ServiceError).requestId).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('the Node client behind a proxy', () => {
  test.each([
    ['a page of HTML', '<h1>Request too large</h1>', '<h1>Request too large</h1>'],
    ['nothing', '', ''],
    ['other JSON', '{"message":"no"}', '{"message":"no"}'],
    ['null', 'null', 'null'],
  ])('throws a failure with its status if the proxy refuses the request with %s', async (_, body, text) => {
    const proxy = createServer((request, response) => {
      request.resume();
      response.writeHead(413).end(body);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port } = proxy.address() as AddressInfo;
    const failure = await createClient({ baseUrl: `http://127.0.0.1:${port}`, publicKey: 'p', secretKey: 's' })
      .recordAttribution({ customer_user_id: 'jörg' })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({ status: 413, code: 'unexpected_response' });
    expect((failure as ServiceError).message).toBe(`unexpected_response: ${text}`);
    proxy.closeAllConnections();
    proxy.close();
  });
});

describe.skipIf(!hasCurl)('the curl script', () => {
  const start = (customer: string) => {
    const env = { PATH: process.env.PATH, BASE_URL: service.url, PUBLIC_KEY: service.publicKey, CUSTOMER: customer };
    return run('sh', [SCRIPT], { env: { ...env, SECRET_KEY: service.secretKey } });
  };

  test('runs the three operations', async () => {
    const { stdout } = await start('user-1');
    const [profile = '', chart = ''] = stdout.trim().split('\n');
    expect(JSON.parse(profile).data.access_levels.premium.expires_at).toBeNull();
    expect(JSON.parse(chart).data.common.metric_name).toBe('Installs');
  });

  test('stops at the first request that fails and prints its error', async () => {
    const failure = await start('nobody').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 22 });
    expect(JSON.parse((failure as { stdout: string }).stdout).error_code).toBe('profile_does_not_exist');
  });
});
