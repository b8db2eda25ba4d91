// Long work done in slices has the same outcome, and other work gets its turn in between.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inSlices, inTurns, sortInSlices } from '../../src/lib/slices.ts';

test('items are sorted as by sort(), and equal ones stay in the order in which they came', async () => {
  const item = fc.record({ rank: fc.integer({ min: 0, max: 5 }), name: fc.string() });
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 40 }), fc.integer({ min: 1, max: 9 }), async (items, size) => {
      const compare = (a: { rank: number }, b: { rank: number }) => a.rank - b.rank;
      expect(await sortInSlices(items, size, compare)).toEqual([...items].sort(compare));
    }),
  );
});

/** Returns how many steps were done at each turn of the event loop, and in total; `work` calls `step` for each item. */
async function countPerTurn(work: (step: () => void) => Promise<void>): Promise<{ turns: number[]; done: number }> {
  const turns: number[] = [];
  let done = 0;
  const ticking = setInterval(() => turns.push(done), 0);
  await work(() => {
    const until = performance.now() + 1;
    while (performance.now() < until);
    done++;
  });
  clearInterval(ticking);
  return { turns, done };
}

test('the event loop turns between slices', async () => {
  const counted = await countPerTurn((step) => inSlices(Array.from({ length: 40 }), 10, step));
  expect(counted).toEqual({ turns: [10, 20, 30], done: 40 });
});

test('the event loop turns between slices that are sorted, and between slices that are merged', async () => {
  const numbers = Array.from({ length: 40 }, (_, i) => i);
  const { turns, done } = await countPerTurn(async (step) => {
    const compare = (a: number, b: number) => {
      step();
      return a - b;
    };
    await sortInSlices(numbers, 10, compare);
  });
  // Sorting ten numbers that are in order takes nine comparisons; merging compares each item of the first run once.
  expect([[...new Set(turns)], done]).toEqual([[9, 18, 27, 46, 56, 66, 76], 76]);
});

test('the event loop turns between items that are taken as fast as they come', async () => {
  const counted = await countPerTurn(async (step) => {
    for await (const _ of inTurns(['one', 'two', 'three'])) step();
  });
  expect(counted).toEqual({ turns: [1, 2, 3], done: 3 });
});
