// The API reference as it is served: the document, and a page that needs no other host. `npm run docs` writes
// docs/openapi.json again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('/openapi.json is docs/openapi.json', async () => {
  const response = await service.call('GET', '/openapi.json');
  expect(response.status).toBe(200);
  await expect(`${JSON.stringify(response.json, null, 2)}\n`).toMatchFileSnapshot('../../docs/openapi.json');
});

test.each(['/docs', '/docs/'])('%s is a page whose policy names no other host', async (path) => {
  const response = await service.call('GET', path);
  expect(response.status).toBe(200);
  expect(response.headers['content-type']).toMatch(/^text\/html/);
  const policy = String(response.headers['content-security-policy']);
  expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(policy.match(/\S+\.\S+|https?:/g)).toBeNull();
});

test('everything that the page loads comes from this service', async () => {
  const { text } = await service.call('GET', '/docs/');
  const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link as string);
  expect(links.length).toBeGreaterThan(3);
  for (const link of links) {
    const { pathname, origin } = new URL(link, `${service.url}/docs/`);
    expect(origin).toBe(service.url);
    expect([link, (await service.call('GET', pathname)).status]).toEqual([link, 200]);
  }
});

test.each(['..%2fpackage.json', '%2e%2e%2fx', '%5c..%5cx', 'x%00', 'none.js'])(
  'a file that does not exist is a 404: %s',
  async (name) => {
    const { status, json } = await service.call('GET', `/docs/static/${name}`);
    expect([status, json.error_code]).toEqual([404, 'not_found']);
  },
);
