// Which failures of a batch are met by writing it again.
import pg from 'pg';
import { expect, test } from 'vitest';
import { writeDespiteCollisions } from '../../src/import/collisions.ts';

/** As the driver throws it. */
function failureOf(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(code, 0, 'error'), { code });
}

/** Fails so many times, and tells which records each attempt had. */
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

test('five times at most', async () => {
  const { write, attempts } = failing(5, '55P03');
  await expect(writeDespiteCollisions([1, 2, 3], write)).rejects.toMatchObject({ code: '55P03' });
  expect(attempts).toHaveLength(5);
});

test('one that met somebody who wrote the same is written by halves', async () => {
  const { write, attempts } = failing(1, '23505');
  expect(await writeDespiteCollisions([1, 2, 3], write)).toMatchObject({ written: 3 });
  expect(attempts).toEqual([3, 2, 1]);
});

test('what else fails is no collision', async () => {
  const { write, attempts } = failing(1, '22003');
  await expect(writeDespiteCollisions([1], write)).rejects.toMatchObject({ code: '22003' });
  expect(attempts).toEqual([1]);
});
