// Concurrent batches: which begin, which wait for which, and in what order they are reported.
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSession, type Session } from '../../src/db/session.ts';
import { createLanes, type Lanes } from '../../src/import/lanes.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

let sessions: Session[];
let lanes: Lanes<string>;
/** What happened, in order. */
let log: string[];
/** Ends the writing of the batch of this name, successfully or with an error. */
let end: Map<string, (error?: Error) => void>;

beforeEach(async () => {
  sessions = [];
  async function open(): Promise<Session> {
    const settings = { connectionString: database.url, statementTimeoutMs: 1_000, applicationName: 'lanes' };
    const session = await openSession(settings);
    sessions.push(session);
    return session;
  }
  lanes = createLanes({ first: await open(), maxConcurrent: 2, openSession: open });
  log = [];
  end = new Map();
});

function begin(name: string, names?: string[]): Promise<void> {
  return lanes.begin({
    names: names && new Set(names),
    write: (session, onHandedOver) =>
      new Promise((resolve, reject) => {
        log.push(`${name} on ${sessions.indexOf(session)}`);
        end.set(name, (error) => (error ? reject(error) : resolve(name)));
        onHandedOver();
      }),
    report: async (_, result) => {
      log.push(`${result} reported`);
    },
  });
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await turn();
}

test('two batches run concurrently, the third takes the connection of the first, and they are reported in order', async () => {
  await begin('a', ['ann']);
  await begin('b', ['bob']);
  const third = begin('c', ['cid']);
  end.get('b')?.();
  await settle();
  expect(log).toEqual(['a on 0', 'b on 1']);
  end.get('a')?.();
  await third;
  expect(log).toEqual(['a on 0', 'b on 1', 'a reported', 'b reported', 'c on 0']);
  end.get('c')?.();
  await lanes.finish();
  expect(log.at(-1)).toBe('c reported');
  await lanes.close();
});

test('a connection is opened when a batch finds none free', async () => {
  for (const name of ['a', 'b']) {
    await begin(name);
    end.get(name)?.();
  }
  await lanes.finish();
  expect(sessions).toHaveLength(1);
  await begin('c', ['cid']);
  await begin('d', ['dan']);
  expect(sessions).toHaveLength(2);
  for (const name of ['c', 'd']) end.get(name)?.();
  await lanes.close();
});

test.each([
  ['that have a name in common', ['ann', 'x'], ['x', 'bob']],
  ['with the first lacking names', undefined, ['bob']],
  ['with the second lacking names', ['ann'], undefined],
])('two batches %s are written one after the other', async (_, first, second) => {
  await begin('a', first);
  const next = begin('b', second);
  await settle();
  expect(log).toEqual(['a on 0']);
  end.get('a')?.();
  await next;
  end.get('b')?.();
  await lanes.finish();
  expect(log).toEqual(['a on 0', 'a reported', 'b on 0', 'b reported']);
  await lanes.close();
});

test('after a failure no more batches are reported, and those in progress are finished', async () => {
  await begin('a', ['ann']);
  await begin('b', ['bob']);
  end.get('a')?.(new Error('broken'));
  await expect(begin('c', ['cid'])).rejects.toThrow('broken');
  const closed = lanes.close().then(() => log.push('closed'));
  await settle();
  expect(log).toEqual(['a on 0', 'b on 1']);
  end.get('b')?.();
  await closed;
  expect(log).toEqual(['a on 0', 'b on 1', 'closed']);
});
