// Every failure has the envelope of interface 7, whatever part of the service it comes from (decisions.md 1).
import { once } from 'node:events';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ATTRIBUTION, post } from '../attribution/world.ts';
import { GRANT } from '../grants/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { headOfPost, openRaw, rawPost, sendRaw } from './raw.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await addProfile(service, 'anna');
});
afterAll(() => service.close());

const record = { status: 'organic', customer_user_id: 'anna' };

function envelope(status_code: number, error_code: string) {
  return { status: status_code, json: { status_code, error_code, errors: [{ source: null }] } };
}

describe('paths', () => {
  test.each([
    '/',
    '/nothing',
    '/api',
    '/api/v2/web-api/attribution/more',
    '/api/v2/web-api/attributions/',
    '//',
    '/API/V2/web-api/attribution/',
  ])('%s is not found, with or without a key', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND']) {
      expect(await service.call(method, path)).toMatchObject(envelope(404, 'not_found'));
    }
    expect(await service.call('POST', path, { key: service.publicKey, body: {} })).toMatchObject(
      envelope(404, 'not_found'),
    );
  });

  test('a path is not found before its body is looked at', async () => {
    const headers = { 'content-type': 'text/plain' };
    expect(await service.call('POST', '/nothing', { body: 'x'.repeat(100_000), headers })).toMatchObject(
      envelope(404, 'not_found'),
    );
  });

  test.each(['/%', '/%zz', '/%c3%28', '/api/v2/web-api/attribution/%ff', '/%00', '/%e0%80%af', '/x#%zz'])(
    'bad escapes: %s is not found',
    async (path) => {
      for (const method of ['GET', 'PROPFIND']) {
        const response = await sendRaw(service.port, `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
        expect(response).toMatchObject(envelope(404, 'not_found'));
        expect(response.headers['request-id']).toMatch(/^[0-9a-f]{32}$/);
      }
    },
  );

  test('a query does not change the path, even if it is malformed', async () => {
    for (const query of ['?a=1', '?', '?%zz', '?a[b]=c&__proto__=1', `?${'x'.repeat(5000)}`]) {
      const response = await service.call('POST', `${ATTRIBUTION}${query}`, { key: service.publicKey, body: record });
      expect(response.status).toBe(201);
    }
  });

  test('a long URL is not found; one too long for the parser is refused', async () => {
    expect(await service.call('GET', `/${'x'.repeat(10_000)}`)).toMatchObject(envelope(404, 'not_found'));
    const response = await sendRaw(service.port, `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(response).toMatchObject(envelope(431, 'request_header_fields_too_large'));
  });
});

describe('methods', () => {
  const unusual = METHODS.filter((method) => !['CONNECT', 'HEAD', 'POST'].includes(method));

  test.each(unusual)(
    '%s is not allowed where only POST is',
    async (method) => {
      for (const path of [ATTRIBUTION, GRANT.slice(0, -1)]) {
        const response = await sendRaw(
          service.port,
          `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
        );
        expect(response.status).toBe(405);
        expect(response.headers.allow).toBe('POST');
      }
    },
    5_000,
  );

  test.each([
    `http://host${ATTRIBUTION}`,
    `HTTPS://host:8080${ATTRIBUTION}?a=http://x/`,
    `${ATTRIBUTION}#%zz`,
    ATTRIBUTION.replace('web', '%77eb'),
  ])('%s is the same path', async (target) => {
    const response = await sendRaw(service.port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(response).toMatchObject(envelope(405, 'method_not_allowed'));
    expect(response.headers.allow).toBe('POST');
  });

  test('405 has the envelope, and comes before the key is checked', async () => {
    expect(await service.call('GET', ATTRIBUTION)).toMatchObject(envelope(405, 'method_not_allowed'));
    expect(await service.call('PUT', ATTRIBUTION, { key: 'wrong', body: '{' })).toMatchObject(
      envelope(405, 'method_not_allowed'),
    );
  });

  test('405 has the headers that every response of its path has', async () => {
    expect((await service.call('GET', GRANT)).headers).toMatchObject({ allow: 'POST', 'cache-control': 'no-store' });
    const { headers } = await service.call('GET', ATTRIBUTION);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['cache-control']).toBeUndefined();
  });

  test('HEAD has the status and headers without the body', async () => {
    const response = await service.call('HEAD', GRANT);
    expect(response).toMatchObject({ status: 405, text: '' });
    expect(response.headers.allow).toBe('POST');
    expect(await service.call('HEAD', '/healthz')).toMatchObject({ status: 200, text: '' });
  });

  test('Allow names every method of the path', async () => {
    const response = await service.call('POST', '/healthz', { body: {} });
    expect(response).toMatchObject(envelope(405, 'method_not_allowed'));
    expect(String(response.headers.allow).split(', ').sort()).toEqual(['GET', 'HEAD']);
  });

  test('CONNECT is not allowed', async () => {
    const response = await sendRaw(service.port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    expect(response).toMatchObject(envelope(405, 'method_not_allowed'));
    expect(response.headers.allow).toBeDefined();
  });

  test('a client that resets the connection of its CONNECT disturbs nobody', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    await once(socket, 'data');
    socket.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await service.call('GET', '/healthz')).toMatchObject({ status: 200 });
  });
});

describe('bodies', () => {
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    'application/xml',
    'json',
    '*/*',
    'application/json/x',
    ';',
    '',
  ])('the content type %s is not supported', async (type) => {
    expect(await post(service, JSON.stringify(record), { headers: { 'content-type': type } })).toMatchObject(
      envelope(415, 'unsupported_media_type'),
    );
  });

  test('a body without a content type is not supported', async () => {
    const body = JSON.stringify(record);
    const head = [`POST ${ATTRIBUTION} HTTP/1.1`, 'Host: x', `Authorization: Api-Key ${service.publicKey}`];
    const bytes = [...head, `Content-Length: ${body.length}`, '', body].join('\r\n');
    expect(await sendRaw(service.port, bytes)).toMatchObject(envelope(415, 'unsupported_media_type'));
  });

  test('a compressed body is not supported, and says so', async () => {
    const response = await post(service, gzipSync(JSON.stringify(record)), { headers: { 'content-encoding': 'gzip' } });
    expect(response).toMatchObject(envelope(415, 'unsupported_media_type'));
    expect(response.headers['accept-encoding']).toBe('identity');
    expect(await post(service, record, { headers: { 'content-encoding': 'Identity' } })).toMatchObject({ status: 201 });
  });

  test('64 KiB are accepted, a byte more is too large, with a length or in chunks', async () => {
    const empty = JSON.stringify({ ...record, padding: '' });
    const largest = JSON.stringify({ ...record, padding: 'x'.repeat(64 * 1024 - empty.length) });
    expect(largest).toHaveLength(64 * 1024);
    expect(await post(service, largest)).toMatchObject({ status: 201 });
    expect(await post(service, `${largest} `)).toMatchObject(envelope(413, 'request_too_large'));
    const head = headOfPost(ATTRIBUTION, service.publicKey);
    const chunk = `${(70_000).toString(16)}\r\n${'x'.repeat(70_000)}\r\n0\r\n\r\n`;
    const chunked = [...head, 'Transfer-Encoding: chunked', '', chunk].join('\r\n');
    expect(await sendRaw(service.port, chunked)).toMatchObject(envelope(413, 'request_too_large'));
  });

  test('a body that is far too large is read and dropped, and the connection stays open', async () => {
    const head = headOfPost(ATTRIBUTION, service.publicKey);
    const megabytes = 'x'.repeat(8 * 1024 * 1024);
    const connection = openRaw(service.port);
    for (const [framing, body] of [
      [`Content-Length: ${megabytes.length}`, megabytes],
      ['Transfer-Encoding: chunked', `${megabytes.length.toString(16)}\r\n${megabytes}\r\n0\r\n\r\n`],
    ]) {
      connection.send([...head, framing, '', body].join('\r\n'));
      expect(await connection.next()).toMatchObject(envelope(413, 'request_too_large'));
    }
    connection.close();
  });

  test('after a body that is not JSON the connection stays open', async () => {
    const connection = openRaw(service.port);
    for (const body of ['{', JSON.stringify(record)]) {
      connection.send(rawPost(ATTRIBUTION, service.publicKey, body));
    }
    expect(await connection.next()).toMatchObject(envelope(400, 'parse_error'));
    expect((await connection.next()).status).toBe(201);
    connection.close();
  });

  test('chunks are accepted, and deep nesting disturbs nobody', async () => {
    const body = `{"status":"organic","customer_user_id":"anna","deep":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expect(await post(service, body)).toMatchObject({ status: 201 });
  });

  test('members named like parts of JavaScript objects are members like any others', async () => {
    const body =
      '{"status":"organic","customer_user_id":"anna","__proto__":{"channel":"x"},"constructor":1,"toString":2}';
    expect(await post(service, body)).toMatchObject({ status: 201 });
    const { status } = await post(service, '{"__proto__":{"status":"organic","customer_user_id":"anna"}}');
    expect(status).toBe(400);
  });
});

describe('broken HTTP', () => {
  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a method that does not exist', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a version that does not exist', 'GET / HTTP/7.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n'],
    ['U+0000 in a header', 'GET / HTTP/1.1\r\nHost: x\r\nservice-customer-user-id: a\u0000b\r\n\r\n'],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n'],
    ['two Hosts of HTTP/1.0', 'GET /healthz HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n'],
    ['chunks of HTTP/1.0', 'POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['no Host', 'GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n'],
    ['a length that is not a number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a length and chunks', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['TLS', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s: 400 parse_error, and the connection is closed', async (_, bytes) => {
    const connection = openRaw(service.port);
    connection.send(bytes);
    const response = await connection.next();
    expect(response).toMatchObject(envelope(400, 'parse_error'));
    expect(response.headers).toMatchObject({
      connection: 'close',
      'request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    await connection.ended;
  });

  test.each([
    ['headers that are too large', 431, 'GET / HTTP/1.1\r\nHost: x\r\nx-big: ', 'x'.repeat(10_000)],
    [
      'a broken body behind a 401',
      401,
      `POST ${GRANT} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`,
      'x\r\n',
    ],
  ])('a client that reads only after it has sent everything is answered: %s', async (_words, status, begun, piece) => {
    const socket = connect({ port: service.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.write(begun);
    await sleep(100);
    for (let sent = 0; sent < 10; sent++) {
      socket.write(piece);
      await sleep(20);
    }
    expect(await text(socket)).toContain(`HTTP/1.1 ${status}`);
  });

  test('a client that keeps its side open after broken HTTP is cut off a second later', async () => {
    const small = await startService({ env: { MAX_CONNECTIONS: '1' } });
    const lingering = connect({ port: small.port, host: '127.0.0.1', allowHalfOpen: true });
    lingering.resume().write('hello\r\n\r\n');
    await once(lingering, 'end');
    const ask = () => sendRaw(small.port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n').catch(() => undefined);
    await expect.poll(ask, { timeout: 5_000 }).toMatchObject({ status: 200 });
    lingering.destroy();
    await small.close();
  });

  test('a broken chunk: 400 parse_error', async () => {
    const head = `POST ${ATTRIBUTION} HTTP/1.1\r\nHost: x\r\nAuthorization: Api-Key ${service.publicKey}\r\n`;
    const bytes = `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;
    expect(await sendRaw(service.port, bytes)).toMatchObject(envelope(400, 'parse_error'));
  });

  test('an unknown Expect and an offer to upgrade are ignored', async () => {
    for (const header of ['Expect: the-best', 'Connection: Upgrade\r\nUpgrade: websocket', 'Expect: 100-continue']) {
      const connection = openRaw(service.port);
      connection.send(`GET /healthz HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
      const first = await connection.next();
      expect((first.status === 100 ? await connection.next() : first).status).toBe(200);
      connection.close();
    }
  });
});

test('a Host whose name is host counts as one Host', async () => {
  const bytes = 'GET /healthz HTTP/1.1\r\nHost: host\r\nConnection: close\r\n\r\n';
  expect(await sendRaw(service.port, bytes)).toMatchObject({ status: 200 });
});

test('a request from HTTP/1.0 is answered', async () => {
  expect(await sendRaw(service.port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatchObject({ status: 200 });
});

test('Request-Id is chosen by the service: a new one for every response, whatever the client sends', async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const response = await service.call('GET', '/healthz', { headers: { 'request-id': 'mine' } });
      return response.headers['request-id'];
    }),
  );
  expect(new Set(ids).size).toBe(20);
});
