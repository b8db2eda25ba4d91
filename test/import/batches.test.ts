import { expect, test } from 'vitest';
import { readBatches } from '../../src/import/batches.ts';

/** Returns the sizes of the batches of a file with this many records, which are read in groups. */
async function sizesOf({ records, group, bytesPerGroup }: { records: number; group: number; bytesPerGroup: number }) {
  let bytes = 0;
  async function* entries() {
    for (let line = 1; line <= records; line += group) {
      bytes += bytesPerGroup;
      yield Array.from({ length: group }, (_, index) => ({ line: line + index, value: {} }));
    }
  }
  const sizes: number[] = [];
  const source = { entries: entries(), bytesRead: () => bytes };
  for await (const { items } of readBatches(source, () => ({ record: {} }))) sizes.push(items.length);
  return sizes;
}

test('the first batch has 1,000 records, the others have 10,000', async () => {
  expect(await sizesOf({ records: 25_000, group: 500, bytesPerGroup: 1 })).toEqual([1_000, 10_000, 10_000, 4_000]);
});

test('large records make small batches: none is larger than 16 MiB and a chunk', async () => {
  const mebibyte = 1024 * 1024;
  expect(await sizesOf({ records: 50, group: 1, bytesPerGroup: mebibyte })).toEqual([16, 16, 16, 2]);
});

test('an empty file has no batches', async () => {
  expect(await sizesOf({ records: 0, group: 1, bytesPerGroup: 1 })).toEqual([]);
});

test('records that belong together stay in one batch, unless they are very many', async () => {
  async function* entries() {
    yield Array.from({ length: 30_000 }, (_, index) => ({ line: index + 1, value: index }));
  }
  async function lastOfEach(isTogether: (value: number) => boolean) {
    const lasts: number[] = [];
    const source = { entries: entries(), bytesRead: () => 0 };
    const parse = (value: unknown) => ({ record: value as number });
    for await (const { items } of readBatches(source, parse, isTogether)) lasts.push(items.at(-1)?.record ?? -1);
    return lasts;
  }
  expect(await lastOfEach((value) => value % 7_000 !== 6_999)).toEqual([1_999, 13_999, 27_999, 29_999]);
  expect(await lastOfEach((value) => value % 1_500 !== 1_499)).toEqual([1_499, 11_999, 22_499, 29_999]);
});
