// After which failures a batch is written again.
import pg from 'pg';
import { expect, test } from 'vitest';
import { writeDespiteCollisions } from '../../src/import/collisions.ts';

/** An error as the driver throws it. */
function failureOf(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(code, 0, 'error'), { code });
}

/** Fails this many times; `attempts` has the number of records of each attempt. */
function failing(times: number, code: string) {
  const attempts: number[] = [];
  const write = async (records: readonly unknown[]) => {
    attempts.push(records.length);
    if (attempts.length <= times) throw failureOf(code);
    return { written: records.length, refused: new Map() };
  };
  return { write, attempts };
}

test('a batch that waited too long for a lock is written again, as a whole', async () => {
  const { write, attempts } = failing(4, '55P03');
  expect(await writeDespiteCollisions([1, 2, 3], write)).toMatchObject({ written: 3 });
  expect(attempts).toEqual([3, 3, 3, 3, 3]);
});

test('a batch that waits too long for a lock is written five times at most', async () => {
  const { write, attempts } = failing(5, '55P03');
  await expect(writeDespiteCollisions([1, 2, 3], write)).rejects.toMatchObject({ code: '55P03' });
  expect(attempts).toHaveLength(5);
});

test('a batch that collides with another writer is written in halves', async () => {
  const { write, attempts } = failing(1, '23505');
  expect(await writeDespiteCollisions([1, 2, 3], write)).toMatchObject({ written: 3 });
  expect(attempts).toEqual([3, 2, 1]);
});

test('what is reported about the records of the halves is reported for the whole batch', async () => {
  const write = async (records: readonly string[]) => {
    if (records.length === 5) throw failureOf('23505');
    const refused = new Map(
      records.flatMap((record, index) =>
        record.startsWith('bad') ? [[index, { source: record, code: 'value_error' as const, message: '' }]] : [],
      ),
    );
    const unconfigured = records.map((store_product_id) => ({ store: 'app_store' as const, store_product_id }));
    return { written: records.length - refused.size, refused, unconfigured };
  };
  const { refused, unconfigured, ...counts } = await writeDespiteCollisions(['a', 'bad b', 'c', 'd', 'bad e'], write);
  expect(counts).toEqual({ written: 3 });
  expect([...refused].map(([index, { source }]) => [index, source])).toEqual([
    [1, 'bad b'],
    [4, 'bad e'],
  ]);
  expect(unconfigured?.map(({ store_product_id }) => store_product_id)).toEqual(['a', 'bad b', 'c', 'd', 'bad e']);
});

test('any other failure is not a collision', async () => {
  const { write, attempts } = failing(1, '22003');
  await expect(writeDespiteCollisions([1], write)).rejects.toMatchObject({ code: '22003' });
  expect(attempts).toEqual([1]);
});
