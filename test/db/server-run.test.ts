// A connection to a server that was started at another time begins a new run.
import type pg from 'pg';
import { expect, test } from 'vitest';
import { createServerRun } from '../../src/db/server-run.ts';

const clientOf = (started_at: string) => ({ query: async () => ({ rows: [{ started_at }] }) }) as unknown as pg.Client;

test('the number increases with every server that differs from the one before, even if it was seen earlier', async () => {
  const run = createServerRun();
  const numbers: number[] = [];
  for (const started of ['one', 'one', 'two', 'two', 'one']) {
    await run.onConnect(clientOf(started));
    numbers.push(run.number);
  }
  expect(numbers).toEqual([0, 0, 1, 1, 2]);
});
