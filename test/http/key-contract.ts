// How every operation answers callers without the right key (interface 5, decisions.md 2). Used by each 401.test.ts.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp, createKey, revokeKey } from '../../src/apps/service.ts';
import { startService, type TestService } from '../setup/service.ts';

export interface KeyedOperation {
  method: string;
  path: string;
  kind: 'public' | 'secret';
  /** Whether secret keys of scope analytics may use it. */
  isForCharts?: boolean;
  body?: unknown;
}

const REFUSAL = {
  errors: [{ source: 'non_field_errors', errors: ['Authentication credentials were not provided.'] }],
  error_code: 'not_authenticated',
  status_code: 401,
};

export function keyContract({ method, path, kind, isForCharts = false, body }: KeyedOperation): void {
  let service: TestService;
  const rightKey = () => (kind === 'public' ? service.publicKey : service.secretKey);
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  async function expectRefused(authorization: string | undefined): Promise<void> {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await service.call(method, path, { headers, body });
    expect(response.json).toEqual(REFUSAL);
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Api-Key');
  }

  test('the right key is accepted, with the scheme in upper or lower case and one space or more', async () => {
    for (const scheme of ['Api-Key', 'api-key', 'API-KEY', 'Api-Key ']) {
      const response = await service.call(method, path, {
        headers: { authorization: `${scheme} ${rightKey()}` },
        body,
      });
      expect(response.status).not.toBe(401);
    }
  });

  test('a missing or blank Authorization and one without a key are refused', async () => {
    for (const authorization of [undefined, '', 'Api-Key', 'Api-Key ']) await expectRefused(authorization);
  });

  test('another scheme is refused, and so is a key without a scheme', async () => {
    for (const scheme of ['Bearer ', 'Basic ', 'Token ', 'ApiKey ', '']) await expectRefused(`${scheme}${rightKey()}`);
  });

  test('an unknown key is refused, and so is one that is nearly right', async () => {
    const key = rightKey();
    const last = key.at(-1) === 'a' ? 'b' : 'a';
    const [prefix = '', secret = ''] = key.split('.');
    const wrong = [
      `${kind}_live_AAAAAAAA.${'A'.repeat(32)}`,
      `${key.slice(0, -1)}${last}`,
      key.slice(0, -1),
      `${key}a`,
      prefix,
      `${prefix}.`,
      `.${secret}`,
      secret,
      `${key} ${key}`,
      key.toUpperCase(),
      'ключ',
      '\u0000'.replace('\u0000', '%00'),
    ];
    for (const one of wrong) await expectRefused(`Api-Key ${Buffer.from(one).toString('latin1')}`);
  });

  test('a key of the wrong kind is refused', async () => {
    await expectRefused(`Api-Key ${kind === 'public' ? service.secretKey : service.publicKey}`);
  });

  test(`a secret key of scope analytics is ${isForCharts ? 'accepted' : 'refused'}`, async () => {
    const { key } = await createKey(service.deps, { appId: service.appId, kind: 'secret', scope: 'analytics' });
    if (!isForCharts) return expectRefused(`Api-Key ${key}`);
    expect((await service.call(method, path, { key, body })).status).not.toBe(401);
  });

  test('every key of the app works until it is revoked, and is refused within two seconds after that', async () => {
    const { key, key_id } = await createKey(service.deps, { appId: service.appId, kind });
    expect((await service.call(method, path, { key, body })).status).not.toBe(401);
    await revokeKey(service.deps, key_id);
    const end = performance.now() + 2_000;
    const isLetIn = async () => (await service.call(method, path, { key, body })).status !== 401;
    // The key is used all the time, which must not prolong its time in the cache.
    while (performance.now() < end && (await isLetIn())) await new Promise((resolve) => setTimeout(resolve, 100));
    await expectRefused(`Api-Key ${key}`);
    expect((await service.call(method, path, { key: rightKey(), body })).status).not.toBe(401);
  });

  test.skipIf(body === undefined)('a key that is revoked while the body is arriving is refused', async () => {
    const { key, key_id } = await createKey(service.deps, { appId: service.appId, kind });
    const text = JSON.stringify(body);
    const headers = { authorization: `Api-Key ${key}`, 'content-type': 'application/json' };
    const outgoing = request(`${service.url}${path}`, {
      method,
      headers: { ...headers, 'content-length': text.length },
    });
    const answered = once(outgoing, 'response');
    outgoing.flushHeaders();
    // The key is cached before it is revoked.
    expect((await service.call(method, path, { key, body })).status).not.toBe(401);
    await revokeKey(service.deps, key_id);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    outgoing.end(text);
    const [answer] = (await answered) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(401);
  });

  test('the key is checked before the body', async () => {
    const response = await service.call(method, path, { body: '{', headers: { 'content-type': 'text/plain' } });
    expect(response.json).toEqual(REFUSAL);
  });

  test('a key of another app of the same service is accepted for that app', async () => {
    const other = await createApp(service.deps, { name: 'Other' });
    const key = kind === 'public' ? other.public_key : other.secret_key;
    expect((await service.call(method, path, { key, body })).status).not.toBe(401);
  });
}
