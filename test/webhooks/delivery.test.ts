// One attempt against a real receiver, however it behaves.
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSender, type Message, type Sender, type SenderOptions } from '../../src/webhooks/delivery.ts';
import { isDelivered } from '../../src/webhooks/outcome.ts';
import { newSecret } from '../../src/webhooks/secrets.ts';
import { answering, dropping, hanging, type Receiver, startReceiver } from './receiver.ts';

const LOOPBACK = { allowHttp: true, allowPrivate: true };
const secret = newSecret();

let receiver: Receiver;
let sender: Sender;

function useSender(options: Partial<SenderOptions> = {}): void {
  sender = createSender({ policy: LOOPBACK, now: () => new Date(), deadlineMs: 5_000, ...options });
}

function message(changes: Partial<Message> = {}): Message {
  return { url: `${receiver.url}/hook`, authorization: null, secrets: [secret], id: 'e1', body: '{"a":1}', ...changes };
}

beforeEach(async () => {
  receiver = await startReceiver();
  useSender();
});

afterEach(async () => {
  await sender.close();
  await receiver.close();
});

describe('a 2xx response', () => {
  it('is a success, and its text is kept', async () => {
    receiver.behave(answering(202, 'thank you'));
    const attempt = await sender.send(message());
    expect(attempt).toMatchObject({ status: 202, error: null, response: 'thank you' });
    expect(isDelivered(attempt)).toBe(true);
  });

  it('is requested with a signed POST', async () => {
    await sender.send(message({ url: `${receiver.url}/hook?token=a%20b`, authorization: 'Bearer abc' }));
    const [{ headers, body, path } = { headers: {}, body: '', path: '' }] = receiver.received;
    expect(path).toBe('/hook?token=a%20b');
    expect(body).toBe('{"a":1}');
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'subscription-profile-service-webhooks/1',
      authorization: 'Bearer abc',
    });
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual({ a: 1 });
  });

  it('may be long: 2 KiB of it are kept', async () => {
    receiver.behave(answering(200, 'ä'.repeat(300_000)));
    const attempt = await sender.send(message());
    expect(isDelivered(attempt)).toBe(true);
    expect(attempt.response).toBe('ä'.repeat(1024));
  });

  it('may be endless: its status counts, and no more than 1 MiB is read', async () => {
    receiver.behave((response) => {
      response.writeHead(200);
      const chunk = 'x'.repeat(64 * 1024);
      const pump = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', pump);
      pump();
    });
    const attempt = await sender.send(message());
    expect(attempt).toMatchObject({ status: 200, error: null });
    expect(attempt.response).toHaveLength(2048);
    expect(isDelivered(attempt)).toBe(true);
  });

  it.each([
    ['of 1 MiB is read to the end, and its connection used again', 1024 * 1024, 1],
    ['of more than that closes its connection', 1024 * 1024 + 1, 2],
  ])('%s', async (_words, length, connections) => {
    const sockets = new Set<unknown>();
    receiver.behave((response, _received, { socket }) => {
      sockets.add(socket);
      response.end('x'.repeat(length));
    });
    for (let i = 0; i < 2; i++) {
      expect(await sender.send(message())).toMatchObject({ status: 200, error: null });
      // A connection is free again in the next turn of the event loop.
      await new Promise(setImmediate);
    }
    expect(sockets.size).toBe(connections);
  });

  it('may follow an interim response', async () => {
    receiver.behave((response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeHead(202, { 'retry-after': '1' }).end('late');
    });
    expect(await sender.send(message())).toMatchObject({ status: 202, error: null, response: 'late' });
  });

  it('may contain what the database cannot store', async () => {
    receiver.behave((response) => response.end(Buffer.from([0x61, 0x00, 0xff, 0x62])));
    expect((await sender.send(message())).response).toBe('a\ufffdb');
  });
});

describe('a failure', () => {
  it.each([300, 301, 302, 307, 400, 404, 410, 429, 500, 503])('is the response %i', async (status) => {
    receiver.behave(answering(status, 'no', { location: `${receiver.url}/elsewhere`, 'retry-after': '17' }));
    const attempt = await sender.send(message());
    expect(attempt).toMatchObject({ status, error: null, response: 'no', retryAfterS: 17 });
    expect(isDelivered(attempt)).toBe(false);
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['no response at all', null, hanging],
    [
      'a response that is announced and does not come',
      null,
      ((response) => {
        response.writeProcessing();
      }) as typeof hanging,
    ],
    [
      'a body at one byte a time',
      200,
      ((response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write('x'), 50);
        response.on('close', () => clearInterval(timer));
      }) as typeof hanging,
    ],
  ])('is %s within the deadline', async (_words, status, behaviour) => {
    await sender.close();
    useSender({ deadlineMs: 300 });
    receiver.behave(behaviour);
    const attempt = await sender.send(message());
    expect(attempt).toMatchObject({ status, error: 'no complete response within 0.3 s' });
    expect(attempt.seconds).toBeGreaterThan(0.25);
    expect(attempt.seconds).toBeLessThan(3);
    expect(isDelivered(attempt)).toBe(false);
  });

  it('is a response that is not complete within 10 s, unless another deadline is set', async () => {
    await sender.close();
    useSender({ deadlineMs: undefined });
    receiver.behave(hanging);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const attempt = sender.send(message());
      vi.advanceTimersByTime(10_000);
      expect(await attempt).toMatchObject({ status: null, error: 'no complete response within 10 s' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('to answer within the deadline closes the connection', async () => {
    await sender.close();
    useSender({ deadlineMs: 300 });
    let isClosed = false;
    receiver.behave((response) => {
      response.on('close', () => {
        isClosed = true;
      });
    });
    await sender.send(message());
    await vi.waitFor(() => expect(isClosed).toBe(true), 5_000);
  });

  it('is a name that is resolved too late, after which nothing is sent any more', async () => {
    const late = [{ address: '127.0.0.1', family: 4 }];
    await sender.close();
    useSender({ deadlineMs: 100, resolve: () => sleep(300, late) });
    const url = receiver.url.replace('127.0.0.1', 'hook.example');
    const attempt = await sender.send(message({ url }));
    expect(attempt).toMatchObject({ status: null, error: 'no complete response within 0.1 s' });
    await sleep(500);
    expect(receiver.received).toEqual([]);
  });

  it('is a dropped connection', async () => {
    receiver.behave(dropping);
    expect(await sender.send(message())).toMatchObject({
      status: null,
      error: expect.stringContaining('UND_ERR_SOCKET'),
    });
  });

  it('is a connection that nobody accepts', async () => {
    const { url } = receiver;
    await receiver.close();
    expect(await sender.send(message({ url }))).toMatchObject({
      status: null,
      error: expect.stringContaining('ECONNREFUSED'),
    });
    receiver = await startReceiver();
  });

  it('is a name without an address', async () => {
    useSender({ resolve: () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })) });
    const attempt = await sender.send(message({ url: 'https://nowhere.example/hook' }));
    expect(attempt).toMatchObject({ status: null, error: 'queryA ENOTFOUND' });
  });
});
