// How an answer is drawn: which series, in which order and on top of which, and the marks of the axes.
import { describe, expect, test } from 'vitest';
import { listMarkLabels, listMarks, listStarts, VALUE_STEPS, valueRange } from '../../src/dashboard/chart/axis.ts';
import { horizontalExtent, verticalExtent } from '../../src/dashboard/chart/bar-extent.ts';
import { listLayers, stack } from '../../src/dashboard/chart/layers.ts';
import { drawnKeys, keySeries, toggleSeries } from '../../src/dashboard/chart/series.ts';
import { HEIGHT, linePath } from '../../src/dashboard/overview/line-path.ts';
import type { Series } from '../../src/dashboard/service/answers.ts';
import { formatMarks } from '../../src/dashboard/words/values.ts';

function series(type: string, ys: number[], compared: number[] | null = null): Series {
  const points = (list: number[]) => list.map((y, i) => ({ x: `2025-01-0${i + 1}T00:00:00.000000+0000`, y }));
  const value = ys.reduce((sum, y) => sum + y, 0);
  return {
    title: type,
    type,
    value,
    values: points(ys),
    compare_value: compared && 0,
    compare_values: compared && points(compared),
  };
}

const TOTAL = series('total', [3, -1]);
const ANSWER = [TOTAL, series('us', [2, 1]), series('de', [1, -2])];

describe('keys of series', () => {
  test('a segment called total or other is not mistaken for the total or the rest', () => {
    const list = [TOTAL, series('total', [1]), series('other', [1]), series('other', [1])];
    expect(keySeries(list).map(({ key }) => key)).toEqual(['total', '=total', '=other', 'rest']);
  });

  test('segments that share a title get distinct ones; the total and the rest keep theirs', () => {
    const titled = (title: string, type: string) => ({ ...series(type, [1]), title });
    const list = [titled('Total', 'total'), titled('Unknown', ''), titled('Unknown', 'unknown')];
    const rest = [titled('Other', 'other'), titled('Other', 'other'), titled('Total', 'Total')];
    expect(keySeries([...list, ...rest]).map(({ title }) => title)).toEqual([
      'Total',
      'Unknown (no value)',
      'Unknown (unknown)',
      'Other (other)',
      'Other',
      'Total (Total)',
    ]);
  });

  test('the total and the eight largest segments are drawn unless others are chosen', () => {
    const many = keySeries([TOTAL, ...Array.from({ length: 20 }, (_, i) => series(`s${i}`, [1]))]);
    expect(drawnKeys(many, null)).toHaveLength(9);
    expect(drawnKeys(many, ['=s15', 'total', '=gone'])).toEqual(['total', '=s15']);
  });

  test('if no chosen series is in the answer, the default ones are drawn; choosing none at all is a choice', () => {
    const keyed = keySeries(ANSWER);
    expect(drawnKeys(keyed, ['=gone'])).toEqual(['total', '=us', '=de']);
    expect(toggleSeries(keyed, ['=gone'], '=us')).toEqual(['total', '=de']);
    expect(drawnKeys(keyed, [])).toEqual([]);
    expect(toggleSeries(keyed, ['=us'], '=us')).toEqual([]);
  });

  test('switching a series off and on again restores the default choice', () => {
    const keyed = keySeries(ANSWER);
    const off = toggleSeries(keyed, null, '=us');
    expect(off).toEqual(['total', '=de']);
    expect(toggleSeries(keyed, off, '=us')).toBeNull();
  });
});

describe('layers', () => {
  const keyed = keySeries(ANSWER);
  const forms = (drawing: 'line' | 'area' | 'bars', addsUp: boolean) =>
    listLayers({ series: keyed, drawing, addsUp }).map(({ key, form, ys }) => ({ key, form, ys }));

  test('segments that add up are stacked, separately above and below zero', () => {
    expect(
      stack([
        [2, 1],
        [1, -2],
        [1, -1],
      ]),
    ).toEqual([
      [2, 1],
      [3, -2],
      [4, -3],
    ]);
  });

  test('the outermost segment is painted first, the total last', () => {
    expect(forms('bars', true)).toEqual([
      { key: '=de', form: 'bars', ys: [3, -2] },
      { key: '=us', form: 'bars', ys: [2, 1] },
      { key: 'total', form: 'caps', ys: [3, -1] },
    ]);
  });

  test('ratios are never stacked', () => {
    expect(forms('area', false).map(({ ys }) => ys)).toEqual([
      [2, 1],
      [1, -2],
      [3, -1],
    ]);
    const bars = listLayers({ series: keyed, drawing: 'bars', addsUp: false });
    expect(bars.map(({ slot }) => slot)).toEqual([
      { index: 0, of: 2 },
      { index: 1, of: 2 },
      { index: 0, of: 1 },
    ]);
  });

  test('a single bucket has no area: it is drawn as bars', () => {
    const one = keySeries([series('total', [3], [1, 2]), series('us', [2]), series('de', [1])]);
    expect(
      listLayers({ series: one, drawing: 'area', addsUp: true }).map(({ key, form, ys }) => [key, form, ys]),
    ).toEqual([
      ['=de', 'bars', [3]],
      ['=us', 'bars', [2]],
      ['compared', 'halo', [1, 2]],
      ['compared', 'dashes', [1, 2]],
      ['total', 'caps', [3]],
    ]);
  });

  test('the compared total is a dashed line with an edge over the bars', () => {
    const compared = keySeries([series('total', [3, 4], [1, 2])]);
    expect(listLayers({ series: compared, drawing: 'bars', addsUp: true }).map(({ key, form }) => [key, form])).toEqual(
      [
        ['total', 'bars'],
        ['compared', 'halo'],
        ['compared', 'dashes'],
      ],
    );
  });
});

describe('bars, zero being 100 pixels down', () => {
  test.each([
    ['a bar above zero reaches down to it', 40.4, undefined, [40, 60]],
    ['a bar below zero begins there', 130.3, undefined, [100, 30]],
    ['a bar too small to see has one pixel', 99.8, undefined, [100, 1]],
    ['the end of a bar above zero is its upper one', 40.4, 2, [40, 2]],
    ['the end of a bar below zero is its lower one', 130.3, 2, [128, 2]],
  ] as const)('%s', (_, end, height, extent) => {
    expect(verticalExtent(end, 100, height)).toEqual(extent);
  });

  test('side by side, they share the room of their bucket', () => {
    const [left, right] = [0, 1].map((index) => horizontalExtent(50, 20, { index, of: 2 }));
    expect([left, right]).toEqual([
      [40, 10],
      [50, 10],
    ]);
  });

  test('they stay at their bucket even if there are more bars than pixels', () => {
    const bars = Array.from({ length: 8 }, (_, index) => horizontalExtent(50, 2, { index, of: 8 }));
    expect(bars.every(([left, width]) => left >= 49 && left <= 51 && width === 1)).toBe(true);
  });
});

describe('axes', () => {
  test('there are never more marks than fit', () => {
    for (const count of [1, 2, 28, 90, 365, 1000]) {
      for (const most of [1, 4, 12]) expect(listMarks(count, 'day', most).length).toBeLessThanOrEqual(most);
    }
    expect(listMarks(28, 'day', 7)).toEqual([0, 7, 14, 21]);
  });

  test('the year is shown where it begins', () => {
    const starts = ['2024-11-01', '2024-12-01', '2025-01-01', '2025-02-01'];
    expect(listMarkLabels(starts, [0, 1, 2, 3], 'month')).toEqual(['Nov\n2024', 'Dec', 'Jan\n2025', 'Feb']);
  });

  test('the labels are the days of the range, even where the compared days continue', () => {
    const values = [{ x: '2024-12-01T00:00:00.000000+0100', y: 1 }];
    const compare_values = ['2024-10-01', '2024-11-01', '2024-12-01'].map((day) => ({ x: `${day}T00:00:00`, y: 1 }));
    const starts = listStarts({ values, compare_values });
    expect(starts).toEqual(['2024-12-01', '', '']);
    expect(listMarkLabels(starts, [0, 1, 2], 'month')).toEqual(['Dec\n2024', '', '']);
    expect(listStarts({ values, compare_values: null })).toEqual(['2024-12-01']);
  });

  test.each(['USD', 'count'] as const)('no two marks of values in %s read the same', (unit) => {
    for (const step of VALUE_STEPS[unit].slice(0, 21)) {
      const marks = Array.from({ length: 9 }, (_, i) => i * step);
      const words = formatMarks(marks, unit);
      expect(new Set(words).size, words.join()).toBe(9);
    }
  });

  test('zero is always on the axis', () => {
    expect(valueRange([100, 200])).toEqual([0, 212]);
    expect(valueRange([-100, null])).toEqual([-106, 0]);
    expect(valueRange([0, 0])).toEqual([0, 1]);
  });
});

test('the lines of a sparkline share one scale, which includes zero', () => {
  expect(linePath([0, 10], [0, 10, 20])).toBe(`M3.0 ${HEIGHT - 3}.0L237.0 28.0`);
  expect(linePath([], [])).toBe('');
});
