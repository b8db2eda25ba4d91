// Resolving names to addresses, with name servers of the test's own.
import { createSocket, type Socket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { createResolve } from '../../src/webhooks/resolve.ts';

const A = 1;
const AAAA = 28;
const ADDRESSES: Record<number, number[]> = {
  [A]: [192, 0, 2, 1],
  [AAAA]: [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
};
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

const servers: Socket[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** The answer to a query: the address of the type that it asks for, or none and an error code. */
function answerTo(query: Buffer, type: number, code: number): Buffer {
  const address = code === 0 ? ADDRESSES[type]! : [];
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 + code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(code === 0 ? 1 : 0, 6);
  const question = query.subarray(12, typeAt(query) + 4);
  const record = code === 0 ? [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length, ...address] : [];
  return Buffer.concat([head, question, Buffer.from(record)]);
}

function typeAt(query: Buffer): number {
  let at = 12;
  while (query[at] !== 0) at += query[at]! + 1;
  return at + 1;
}

/** Starts a name server that answers queries of these types, with this code. */
async function startServer(types: readonly number[], code = 0): Promise<string> {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const type = query.readUInt16BE(typeAt(query));
    if (types.includes(type)) server.send(answerTo(query, type, code), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return `127.0.0.1:${server.address().port}`;
}

function resolverOf(names: string[], options = { timeout: 2_000, tries: 2 }): dns.Resolver {
  const resolver = new dns.Resolver(options);
  resolver.setServers(names);
  return resolver;
}

function resolveWith(names: string[]) {
  return createResolve(() => resolverOf(names));
}

it('a name has the addresses of both families', async () => {
  expect(await resolveWith([await startServer([A, AAAA])])('hook.example.com')).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]);
});

it.each([
  ['IPv6', A, { address: '192.0.2.1', family: 4 }],
  ['IPv4', AAAA, { address: '2001:db8::1', family: 6 }],
])('servers that do not answer for %s are not waited for long', async (_, type, address) => {
  const resolve = resolveWith([await startServer([type]), await startServer([type])]);
  const began = performance.now();
  expect(await resolve('hook.example.com')).toEqual([address]);
  expect(performance.now() - began).toBeLessThan(5_000);
});

it.each([
  ['do not know', NO_SUCH_NAME],
  ['cannot resolve', SERVER_FAILURE],
])('the hosts file is used for names that name servers %s', async (_, code) => {
  const addresses = await resolveWith([await startServer([A, AAAA], code)])('localhost');
  expect(addresses.map(({ address }) => address)).toContain('127.0.0.1');
});

it('resolving fails if no name server answers, and then queries the current ones', async () => {
  const quick = { timeout: 200, tries: 1 };
  let present = [await startServer([])];
  const resolve = createResolve(() => resolverOf(present, quick));
  present = [await startServer([A])];
  const lookups = ['one.example.com', 'other.example.com'].map((name) => resolve(name));
  for (const lookup of lookups) await expect(lookup).rejects.toMatchObject({ code: 'ETIMEOUT' });
  expect(await resolve('one.example.com')).toEqual([{ address: '192.0.2.1', family: 4 }]);
});
