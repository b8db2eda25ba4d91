// Sorts segments in the order of the answer (analytics.md): by the value shown under the first key, greatest first,
// then by code point.
import { compareCodePoints } from '../lib/code-points.ts';
import { inSlices, SLICE, sortInSlices } from '../lib/slices.ts';

/**
 * Sorts in slices: a CSV may have 100,000 segments. `shownOf` returns the value of the whole range under the first key.
 */
export async function sortSegments<T extends { segment: string }>(
  segments: readonly T[],
  shownOf: (one: T) => bigint,
): Promise<T[]> {
  const ranked: { one: T; value: bigint }[] = [];
  await inSlices(segments, SLICE, (one) => ranked.push({ one, value: shownOf(one) }));
  const sorted = await sortInSlices(ranked, SLICE, (a, b) => {
    if (a.value !== b.value) return a.value > b.value ? -1 : 1;
    return compareCodePoints(a.one.segment, b.one.segment);
  });
  return sorted.map(({ one }) => one);
}
