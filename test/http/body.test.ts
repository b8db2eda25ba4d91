// How bodies arrive: in pieces of any size, as large as an operation allows, and kept in memory no longer than needed.
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holdTable } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { headOfPost, openRaw } from './raw.ts';

const PATH = '/api/v2/web-api/attribution/';
const MAX_BYTES = 64 * 1024;

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await addProfile(service, 'ann');
});
afterAll(() => service.close());

/** Sends each piece as a chunk of its own. Returns the status of the response. */
async function sendInChunks(pieces: readonly string[]): Promise<number> {
  const client = openRaw(Number(new URL(service.url).port));
  client.send(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n` +
      `Content-Type: application/json\r\nAuthorization: Api-Key ${service.publicKey}\r\n\r\n`,
  );
  client.send(`${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`);
  const { status } = await client.next();
  client.close();
  return status;
}

function bodyOf(length: number): string {
  const begin = '{"status":"organic","customer_user_id":"ann","ignored":"';
  return `${begin}${'x'.repeat(length - begin.length - 2)}"}`;
}

describe('a body in chunks', () => {
  test.each([
    ['of one byte each', (body: string) => [...body]],
    ['of two halves', (body: string) => [body.slice(0, 30), body.slice(30)]],
    ['of 1,000 bytes', (body: string) => body.match(/.{1,1000}/g) as string[]],
    ['as one', (body: string) => [body]],
  ])('%s: may be as large as allowed, and not a byte larger', async (_, cut) => {
    expect(await sendInChunks(cut(bodyOf(MAX_BYTES)))).toBe(201);
    expect(await sendInChunks(cut(bodyOf(MAX_BYTES + 1)))).toBe(413);
  });
});

describe('a body with its length', () => {
  const announce = (length: number) => {
    const client = openRaw(service.port);
    client.send([...headOfPost(PATH, service.publicKey), `Content-Length: ${length}`, '', ''].join('\r\n'));
    return client;
  };

  test('is put together from pieces that arrive one after the other', async () => {
    const client = announce(MAX_BYTES);
    const body = bodyOf(MAX_BYTES);
    for (const piece of [body.slice(0, 30), body.slice(30, -1), body.slice(-1)]) {
      client.send(piece);
      await sleep(50);
    }
    expect((await client.next()).status).toBe(201);
    client.close();
  });

  test('that is too long is refused before it arrives', async () => {
    const client = announce(MAX_BYTES + 1);
    expect((await client.next()).status).toBe(413);
    client.close();
  });
});

/** Returns the heap in use after a garbage collection. */
function heapMib(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 1024 ** 2;
}

test('members that nobody reads are not kept while a post waits', async () => {
  const release = await holdTable(service, 'profile_attribution');
  const body = JSON.stringify({ status: 'organic', customer_user_id: 'ann', x: Array(20_000).fill({}) });
  const before = heapMib();
  const posts = Array.from({ length: 100 }, () => service.call('POST', PATH, { key: service.publicKey, body }));
  let answered = 0;
  for (const post of posts) post.then(() => answered++);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const held = heapMib() - before;
  expect(answered).toBe(0);
  await release();
  expect(new Set((await Promise.all(posts)).map(({ status }) => status))).toEqual(new Set([201]));
  expect(held).toBeLessThan(40);
});
