// A server that does not prove that it knows the password gets neither the password nor a statement. All tests of the
// embedded database cover one that does.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { sql } from 'kysely';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { PROOF_METHOD, PROOF_PARAMETER } from '../../src/config/database-address.ts';
import { createDb, createPool } from '../../src/db/client.ts';
import { createClient } from '../../src/db/client-class.ts';
import { isDatabaseAway } from '../../src/db/failures.ts';
import { listenForNudges } from '../../src/webhooks/listener.ts';

const PASSWORD = 'a password that nobody else may have';

function message(type: string, content: readonly number[]): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)]);
}

const ANSWERS = {
  'asks for the password in clear': [message('R', [0, 0, 0, 3])],
  'asks for the MD5 of the password': [message('R', [0, 0, 0, 5, 1, 2, 3, 4])],
  'wants no password': [message('R', [0, 0, 0, 0]), message('Z', [0x49])],
  'gives a proof that was not requested': [
    message('R', [0, 0, 0, 12, 0x76]),
    message('R', [0, 0, 0, 0]),
    message('Z', [0x49]),
  ],
};

/** Listens like a server. `heard` returns what clients send after their first message. */
async function startImpostor(answers: readonly Buffer[]) {
  let heard = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.on('data', (bytes) => {
        heard += bytes.toString('latin1');
      });
      for (const one of answers) socket.write(one);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/x`;
  return { url, heard: () => heard, close: () => server.close() };
}

describe.each(Object.entries(ANSWERS))('a server that %s', (_, answers) => {
  test('learns nothing', async () => {
    const impostor = await startImpostor(answers);
    const address = `${impostor.url}?${PROOF_PARAMETER}=${PROOF_METHOD}`;
    const client = createClient({ connectionString: address });
    client.on('error', () => undefined);
    await expect(client.connect()).rejects.toThrow('the server does not prove that it knows the password');
    const pool = createPool(
      { connectionString: address, max: 1, statementTimeoutMs: 2_000, applicationName: 'sps-test' },
      () => {},
    );
    await expect(pool.query('select 42')).rejects.toThrow();
    expect(impostor.heard()).toBe('');
    await pool.end();
    impostor.close();
  });
});

test('if no proof is required, the password is sent as the server wants it', async () => {
  const impostor = await startImpostor(ANSWERS['asks for the password in clear']);
  const client = createClient({ connectionString: impostor.url, connectionTimeoutMillis: 500 });
  await expect(client.connect()).rejects.toThrow();
  expect(impostor.heard()).toContain(PASSWORD);
  impostor.close();
});

describe('a certificate that cannot be read', () => {
  const address = 'postgres://127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/nowhere/ca.pem';
  const settings = { connectionString: address, max: 1, statementTimeoutMs: 2_000, applicationName: 'sps-test' };
  const missing = { code: 'ENOENT', path: '/nowhere/ca.pem' };

  test('fails every attempt to connect, of all who wait for a connection, and the database counts as away', async () => {
    await expect(createClient({ connectionString: address }).connect()).rejects.toMatchObject(missing);
    const db = createDb(settings, () => {});
    const failures = await Promise.all(
      Array.from({ length: 5 }, () =>
        sql`select`.execute(db).then(
          () => undefined,
          (error: unknown) => error,
        ),
      ),
    );
    expect(failures).toEqual(Array.from({ length: 5 }, () => expect.objectContaining(missing)));
    expect(failures.every(isDatabaseAway)).toBe(true);
    await db.destroy();
  });

  test('does not end the listener for nudges', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    const listener = listenForNudges(address, () => undefined, log);
    // It must survive the second attempt, too, which a timer starts.
    await expect.poll(() => lines.length, { timeout: 5_000 }).toBe(2);
    await listener.stop();
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ err: missing });
  });
});
