// https receivers: the certificate must be for the name in the URL, and somebody trusted must vouch for it.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createPlainServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSender, type SenderOptions } from '../../src/webhooks/delivery.ts';

// Self-signed, for hook.example, made for this test alone.
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnTCCAUSgAwIBAgIURpCupHD8KRNVFB1NYwMGWCYe8j0wCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMaG9vay5leGFtcGxlMCAXDTI2MTEyMTA5MjUwMVoYDzIxMjYx
MDI4MDkyNTAxWjAXMRUwEwYDVQQDDAxob29rLmV4YW1wbGUwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAQwpkGvg5RvE+86g0srxBZx7zPrIF7cFAtsNv+porlz28N3
wqS5gozV+0cSSDFXRGE2ZTFsfNM99t6YcRVA/p5Po2wwajAdBgNVHQ4EFgQUTzTF
YQ7rSDD8DBJzS3EFr5PjPkkwHwYDVR0jBBgwFoAUTzTFYQ7rSDD8DBJzS3EFr5Pj
PkkwDwYDVR0TAQH/BAUwAwEB/zAXBgNVHREEEDAOggxob29rLmV4YW1wbGUwCgYI
KoZIzj0EAwIDRwAwRAIgXK3UndZ/EslVl8IPk7aEdn9z45MEavyLi27t8nTVL28C
IF+SpU6cdPfdSNQEmH8s7JvGxZZuB3gAHPa5IKNDUn6Q
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOk0P3aTD691MUvpq
SksKc8B/Saq4RzJfZ7JdgNU0L+WhRANCAAQwpkGvg5RvE+86g0srxBZx7zPrIF7c
FAtsNv+porlz28N3wqS5gozV+0cSSDFXRGE2ZTFsfNM99t6YcRVA/p5P
-----END PRIVATE KEY-----
`;

let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer({ cert: CERTIFICATE, key: KEY }, (request, response) => {
    response.end((request.socket as import('node:tls').TLSSocket & { servername?: string }).servername);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

async function attempt(host: string, { at = port, ...options }: Partial<SenderOptions> & { at?: number } = {}) {
  const sender = createSender({
    policy: { allowHttp: false, allowPrivate: true },
    now: () => new Date(),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
  });
  const url = `https://${host}:${at}/hook`;
  const result = await sender.send({ url, authorization: null, secrets: ['whsec_aaaa'], id: 'e1', body: '{}' });
  await sender.close();
  return result;
}

it('https receivers are reached under the name of the URL', async () => {
  expect(await attempt('hook.example', { ca: CERTIFICATE })).toMatchObject({
    status: 200,
    error: null,
    response: 'hook.example',
  });
});

it('https receivers are refused if nobody vouches for them', async () => {
  expect(await attempt('hook.example')).toMatchObject({
    status: null,
    error: expect.stringContaining('SELF_SIGNED_CERT'),
  });
});

it('https receivers are refused under another name', async () => {
  const { status, error } = await attempt('other.example', { ca: CERTIFICATE });
  expect({ status, error }).toMatchObject({
    status: null,
    error: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
  });
});

it('https receivers are refused at a forbidden address', async () => {
  const policy = { allowHttp: false, allowPrivate: false };
  expect((await attempt('hook.example', { policy, ca: CERTIFICATE })).error).toMatch('127.0.0.1 is a loopback address');
});

it('receivers that do not speak TLS are reported in words', async () => {
  const plain = createPlainServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { error } = await attempt('hook.example', { at: (plain.address() as AddressInfo).port });
  // It does not say where in OpenSSL, or in which thread, the fault was noticed, so that equal faults read alike.
  expect(error).toMatch(/^ERR_SSL_\w+: [a-z ]+$/);
  plain.close();
});
