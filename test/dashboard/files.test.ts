// The page's files as the service sends them: under a strict policy, compressed, and small.
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Returns the answer as it is sent, without decompressing it. */
async function get(path: string) {
  const { statusCode, headers, body } = await request(`${service.url}${path}`, {
    headers: { 'accept-encoding': 'br, gzip' },
  });
  return { status: statusCode, headers, bytes: (await body.bytes()).byteLength };
}

async function listAssets(): Promise<string[]> {
  const { text } = await service.call('GET', '/dashboard/');
  return [...text.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path]) => `/dashboard/${path}`);
}

test('the path without a slash redirects to the one with it, wherever a proxy has put it', async () => {
  const { status, headers } = await get('/dashboard?from=mail?x');
  expect(status).toBe(308);
  expect(headers.location).toBe('dashboard/?from=mail?x');
});

test('only files of its own origin may run, style or be fetched', async () => {
  const { status, headers } = await get('/dashboard/');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  const policy = String(headers['content-security-policy']).split('; ');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy.filter((rule) => /unsafe|data:|https?:|\*/.test(rule))).toEqual([]);
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
});

test('the page is revalidated each time, and its assets are cached for good', async () => {
  expect((await get('/dashboard/')).headers['cache-control']).toBe('no-cache');
  const assets = await listAssets();
  expect(assets.length).toBeGreaterThanOrEqual(3);
  for (const path of assets) {
    const lasting = { 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' };
    expect((await get(path)).headers, path).toMatchObject(lasting);
  }
});

test('text is compressed, and all of it is less than 400 kB', async () => {
  const { text } = await service.call('GET', '/dashboard/');
  expect(text).toContain('<div id="page">');
  const assets = await listAssets();
  const style = assets.find((path) => path.endsWith('.css')) as string;
  const fonts = [...(await service.call('GET', style)).text.matchAll(/url\(\.?\/?([^)]+)\)/g)].map(
    ([, name]) => `/dashboard/assets/${name}`,
  );
  let bytes = 0;
  for (const path of new Set(['/dashboard/', ...assets, ...fonts])) {
    const response = await get(path);
    expect(response.status, path).toBe(200);
    if (/\.(js|css)$/.test(path)) expect(response.headers['content-encoding'], path).toBe('br');
    bytes += response.bytes;
  }
  expect(bytes).toBeLessThan(400_000);
});

test('a path that is no file of the page gets the usual error envelope', async () => {
  const { status, json } = await service.call('GET', '/dashboard/nothing.js');
  expect(status).toBe(404);
  expect(json.error_code).toBe('not_found');
  expect((await service.call('POST', '/dashboard/', { body: {} })).status).toBe(405);
});

test('if {admin_url} has a port of its own, {base_url} has no page', async () => {
  const base = await startService({ addresses: ['base'] });
  try {
    expect((await base.call('GET', '/dashboard/')).status).toBe(404);
  } finally {
    await base.close();
  }
});

test('a path that leads outside of the folder of the page does not exist', async () => {
  for (const path of ['/dashboard/..%2fcli.js', '/dashboard/%2e%2e%2fcli.js']) {
    const { status, json } = await service.call('GET', path);
    expect(status, path).toBe(404);
    expect(json.errors, path).toEqual([{ source: null, errors: ['There is nothing at this path.'] }]);
  }
});
