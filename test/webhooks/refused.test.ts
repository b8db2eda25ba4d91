// Nothing reaches a refused destination: not a byte, whatever name or form stands for it.
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createConnector } from '../../src/webhooks/connector.ts';
import { createSender, type SenderOptions } from '../../src/webhooks/delivery.ts';

const STRICT = { allowHttp: true, allowPrivate: false };

let server: Server;
let port: number;
let connections = 0;
let bytes = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        bytes += chunk.length;
        socket.destroy();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  ({ port } = server.address() as AddressInfo);
});

beforeEach(() => {
  connections = 0;
  bytes = 0;
});

afterAll(() => {
  server.close();
});

async function attempt(host: string, options: Partial<SenderOptions> = {}) {
  const sender = createSender({ policy: STRICT, now: () => new Date(), deadlineMs: 5_000, ...options });
  const url = `http://${host}:${port}/hook`;
  const result = await sender.send({ url, authorization: null, secrets: ['whsec_aaaa'], id: 'e1', body: '{}' });
  await sender.close();
  return result;
}

describe('literal forms', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '017700000001',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
  ])('%s is refused', async (host) => {
    const isNever = ['0.0.0.0', '169.254.169.254'].includes(host);
    const remedy = isNever ? '' : ', and WEBHOOK_ALLOW_PRIVATE is not set';
    expect((await attempt(host)).error).toMatch(new RegExp(`^refused destination: .* address${remedy}$`));
    expect(connections).toBe(0);
  });
});

it('a literal address that passed the check of the URL is cut off before a byte is sent', async () => {
  const agent = new Agent({ connect: createConnector(STRICT, () => Promise.reject(new Error('not needed'))) });
  const sent = request(`http://127.0.0.1:${port}/hook`, { dispatcher: agent, method: 'POST', body: '{}' });
  await expect(sent).rejects.toThrow('refused destination: 127.0.0.1 is a loopback address');
  await vi.waitFor(() => expect(connections).toBe(1));
  expect(bytes).toBe(0);
  await agent.destroy();
});

describe('names', () => {
  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    'fd00:ec2::254',
    '100.64.0.1',
  ])('that resolve to %s are refused', async (address) => {
    const resolve = async () => [{ address, family: address.includes(':') ? 6 : 4 }];
    expect((await attempt('hook.example', { resolve })).error).toMatch(`refused destination: ${address}`);
    expect(connections).toBe(0);
  });

  it('that resolve to a public and to a refused address are refused', async () => {
    const resolve = async () => [
      { address: '203.0.114.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    expect((await attempt('hook.example', { resolve })).error).toMatch('refused destination: 127.0.0.1');
    expect(connections).toBe(0);
  });

  it('whose answer changes are connected to as they were judged, and judged again for each connection', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    let lookups = 0;
    const resolve = async () => [{ address: answers[lookups++] ?? '169.254.169.254', family: 4 }];
    const policy = { allowHttp: false, allowPrivate: true };
    const sender = createSender({ policy, now: () => new Date(), deadlineMs: 5_000, resolve });
    const message = {
      url: `http://hook.example:${port}/`,
      authorization: null,
      secrets: ['whsec_aaaa'],
      id: 'e1',
      body: '{}',
    };
    expect((await sender.send(message)).error).not.toMatch('refused');
    expect({ lookups, connections }).toEqual({ lookups: 1, connections: 1 });
    expect((await sender.send(message)).error).toMatch('refused destination: 169.254.169.254');
    expect({ lookups, connections }).toEqual({ lookups: 2, connections: 1 });
    await sender.close();
  });

  it('such as localhost are refused when the real resolver is used', async () => {
    expect((await attempt('localhost')).error).toMatch(/refused destination: (127\.0\.0\.1|::1) is a loopback address/);
    expect(connections).toBe(0);
  });
});

describe('WEBHOOK_ALLOW_PRIVATE', () => {
  const policy = { allowHttp: false, allowPrivate: true };

  it('reaches loopback', async () => {
    await attempt('127.0.0.1', { policy });
    expect(connections).toBe(1);
  });

  it('does not reach metadata addresses, even by name', async () => {
    const resolve = async () => [{ address: '169.254.169.254', family: 4 }];
    expect((await attempt('hook.example', { policy, resolve })).error).toMatch('169.254.169.254 is a metadata address');
    expect((await attempt('[::ffff:a9fe:a9fe]', { policy })).error).toMatch('metadata address');
  });
});

it('http is refused if only https is allowed', async () => {
  const { error } = await attempt('203.0.114.1', { policy: { allowHttp: false, allowPrivate: false } });
  expect(error).toBe(
    'refused destination: it must begin with https:, as neither WEBHOOK_ALLOW_HTTP nor WEBHOOK_ALLOW_PRIVATE is set',
  );
});
