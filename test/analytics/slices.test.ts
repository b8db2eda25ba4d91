// Series are assembled in slices, whose size counts the buckets of both spans: comparing days with years must not take
// a single turn of the event loop.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Cell } from '../../src/analytics/cells.ts';
import { readChartRequest } from '../../src/analytics/request.ts';
import { assembleSeries } from '../../src/analytics/series.ts';

const DAY = ['2025-01-01', '2025-01-01'];
const YEARS = ['2021-01-01', '2022-12-31'];

const cells = Array.from(
  { length: 20 },
  (_, i): Cell => ({ place: 'segment', segment: `c${i}`, side: 'entries', span: 0, bucket: 1, sums: [1n, 1n, 1n] }),
);

/** Counts the turns of the event loop while the series are assembled. */
async function turnsFor(date: string[], compare_date: string[]): Promise<number> {
  const body = { period_unit: 'day', segmentation: 'attribution_campaign', filters: { date, compare_date } };
  const query = readChartRequest({ body, zoneHeader: undefined, appZone: 'UTC', now: new Date('2025-06-01') });
  let turns = 0;
  let isDone = false;
  const drawing = assembleSeries(query, cells).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await setImmediate();
    turns++;
  }
  expect(await drawing).toHaveLength(21);
  return turns;
}

test.each([
  ['requested', YEARS, DAY],
  ['compared', DAY, YEARS],
])('assembling series lets the event loop turn if years are %s', async (_, date, compared) => {
  expect(await turnsFor(date, compared)).toBeGreaterThan(5);
});
