// A second connection cancels the statements of the first when the process is interrupted, whenever that happens.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { runInterruptibly } from '../../src/db/interruptible.ts';

const CANCEL = 'select pg_cancel_backend($1) 7';

/** Starts work on a connection, which lasts until the test ends it; `open` is called while another one is opened. */
async function start(open: () => Promise<unknown> = async () => undefined) {
  const did: string[] = [];
  const client = { query: async () => ({ rows: [{ pid: 7 }] }) } as unknown as pg.Client;
  const other = {
    query: async (statement: string, values: number[]) => did.push(`${statement} ${values}`),
    end: async () => did.push('end'),
  } as unknown as pg.Client;
  const connect = async () => {
    did.push('connect');
    await open();
    return other;
  };
  const ending = new AbortController();
  let end = (_how: string | Promise<string>) => {};
  const work = () =>
    new Promise<string>((resolve) => {
      end = resolve;
    });
  const over = runInterruptibly(client, { signal: ending.signal, connect }, work).then(
    (value) => did.push(value),
    (error: Error) => did.push(error.message),
  );
  // The work has begun by now.
  await sleep();
  return { did, abort: () => ending.abort(), end, over };
}

test('work that ends by itself needs no other connection, even if the process is interrupted afterwards', async () => {
  const { did, abort, end, over } = await start();
  end('done');
  await over;
  abort();
  await sleep();
  expect(did).toEqual(['done']);
});

test('a cancellation is repeated until the work is over, and not once after that', async () => {
  const { did, abort, end, over } = await start();
  abort();
  await expect.poll(() => did.length).toBeGreaterThan(2);
  end(Promise.reject(new Error('cancelled')));
  await over;
  const cancellations = did.filter((one) => one === CANCEL);
  expect(did).toEqual(['connect', ...cancellations, 'end', 'cancelled']);
});

test("the session's next user is not cancelled if the other connection opens after the work has ended", async () => {
  const { did, abort, end, over } = await start(() => sleep(50));
  abort();
  end('done');
  await over;
  expect(did).toEqual(['connect', 'end', 'done']);
});

test('if no other connection can be opened, the work goes on to its end', async () => {
  const { did, abort, end, over } = await start(() => Promise.reject(new Error('no room')));
  abort();
  await sleep();
  end('done');
  await over;
  expect(did).toEqual(['connect', 'done']);
});
