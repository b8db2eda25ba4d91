// The building blocks of answers from columns: the format, and sums and sets that stay exact and bounded.
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { countCombined, type Numbers, selectRows } from '../../src/analytics/columns/group-rows.ts';
import { BEFORE, bucketUntil, joinBuckets } from '../../src/analytics/columns/moments.ts';
import { PayerCounts } from '../../src/analytics/columns/payer-counts.ts';
import { ColumnSums, splitAmounts, TooMuchToHold } from '../../src/analytics/columns/sums.ts';
import { NO_SEGMENT } from '../../src/analytics/segments.ts';
import { CODE_OFFSET, encodeColumn, encodePlaces, ROWS_PER_GROUP } from '../../src/facts/column-chunk.ts';
import { toQuarters } from '../../src/facts/quarters.ts';
import { createTestDatabase } from '../setup/database.ts';

function decode({ dictionary, codes }: { dictionary: string; codes: string }): (string | undefined)[] {
  const values = dictionary.split(',');
  return Array.from({ length: codes.length }, (_, row) => values[codes.charCodeAt(row) - CODE_OFFSET]);
}

describe('a column chunk', () => {
  test('decodes to the same values, including empty and negative ones', () => {
    const values = ['7', '', '-3', '7', '1:2:3', ''];
    expect(decode(encodeColumn(values))).toEqual(values);
  });

  test('gives the most frequent values one-byte codes', () => {
    const values = [...Array.from({ length: 200 }, (_, i) => `v${i}`), 'often', 'often'];
    const { dictionary, codes } = encodeColumn(values);
    expect(dictionary.split(',')[0]).toBe('often');
    expect(codes.charCodeAt(201)).toBe(CODE_OFFSET);
  });

  test('with as many distinct values as a group has rows is stored unchanged by the database', async () => {
    const values = Array.from({ length: ROWS_PER_GROUP }, (_, i) => String(i));
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const { codes } = encodeColumn(values);
      const { rows } = await client.query<{ kept: string }>('select $1::text as kept', [codes]);
      expect(rows[0]?.kept).toBe(codes);
      expect(decode({ dictionary: values.join(','), codes: rows[0]!.kept })).toEqual(values);
      expect(encodePlaces(values).codes).toBe(codes);
    } finally {
      await client.end();
      await database.close();
    }
  });
});

describe('moments by day and quarter', () => {
  /** Days of 25 hours in a zone five hours behind UTC, as columns store them: `''` stands for none. */
  const DAYS = ['', ...Array.from({ length: 9 }, (_, i) => String(20_000 + i))];
  const QUARTERS = ['', ...Array.from({ length: 100 }, (_, i) => String(20 + i))];
  const codes = DAYS.slice(1).flatMap((_, day) =>
    QUARTERS.slice(1).map((__, quarter) => [day + 1, quarter + 1] as const),
  );
  const column = (values: string[], of: readonly number[]) => ({
    values,
    codes: Uint16Array.from([0, ...of], (code) => code + CODE_OFFSET),
  });
  const days = column(
    DAYS,
    codes.map(([day]) => day),
  );
  const quarters = column(
    QUARTERS,
    codes.map(([, quarter]) => quarter),
  );

  test.each([
    ['of several days', [1_920_130, 1_920_400, 1_920_590]],
    ['that begin and end within a day', [1_920_200, 1_920_204, 1_920_205]],
    ['of none of the days', [1_800_000, 1_800_096]],
  ])('are in the buckets %s', (_, edges) => {
    const last = edges.length - 1;
    const bucketOfQuarter = (quarter: number) => (quarter < edges[0]! ? BEFORE : bucketUntil(edges, quarter));
    const bucketOfDay = (day: string) => (day === '' ? last : undefined);
    const joined = joinBuckets({ days, quarters, bucketOfQuarter, bucketOfDay, last, place: 0 });
    const values = [...joined.codes].map((code) => joined.numbers[code - CODE_OFFSET]);
    const expected = codes.map(([day, quarter]) => {
      const at = 96 * Number(DAYS[day]) + Number(QUARTERS[quarter]);
      return at < edges[0]! ? BEFORE : edges.filter((edge) => edge <= at).length - 1;
    });
    expect(values).toEqual([last, ...expected]);
  });

  test('cannot be assigned to buckets whose edges lie within a quarter of an hour', () => {
    expect(toQuarters([0, 900, 1_800])).toEqual([0, 1, 2]);
    expect(toQuarters([0, 900, 1_801])).toBeUndefined();
  });
});

describe('rows', () => {
  const SIZE = 5_000;

  /** A column of scattered codes below `different`; the even codes pass. */
  function column(different: number, seed: number) {
    const codes = Uint16Array.from({ length: SIZE }, (_, row) => ((row * seed) % 7919) % different);
    const numbers = Int32Array.from({ length: different }, (_, code) => (code % 11 === 0 ? -1 : code));
    const passes = Uint8Array.from(numbers, (_, code) => 1 - (code % 2));
    return { passes, numbers, codes: codes.map((code) => code + CODE_OFFSET) };
  }

  /** Counts, the obvious way, how often each combination of numbers occurs in the rows that pass in every column. */
  function countPlainly(columns: readonly ReturnType<typeof column>[]): Map<string, number> {
    const counts = new Map<string, number>();
    for (let row = 0; row < SIZE; row++) {
      const codes = columns.map((one) => one.codes[row]! - CODE_OFFSET);
      if (codes.some((code, i) => columns[i]!.passes[code] === 0)) continue;
      const key = codes.map((code, i) => columns[i]!.numbers[code]!).join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }

  test.each([
    ['few enough for an array', [3, 5, 40]],
    ['two columns', [7, 300]],
    ['more than an array counts', [200, 300, 400, 5]],
  ])('that pass are counted by their combination of values: %s', (_, differents) => {
    const columns = differents.map((different, i) => column(different, 31 + 2 * i));
    const counted = new Map<string, number>();
    countCombined(selectRows(SIZE, columns), columns satisfies Numbers[], (has, count) => {
      const key = has.join();
      expect(counted.has(key)).toBe(false);
      counted.set(key, count);
    });
    expect(counted.size).toBeGreaterThan(10);
    expect(counted).toEqual(countPlainly(columns));
  });

  test('none pass if a column excludes all', () => {
    const closed = { ...column(5, 31), passes: new Uint8Array(5) };
    expect(selectRows(SIZE, [column(7, 33), closed])).toHaveLength(0);
  });

  test('all pass if no column excludes any', () => {
    const open = { ...column(5, 31), passes: new Uint8Array(5).fill(1) };
    expect(selectRows(SIZE, [open])).toHaveLength(SIZE);
  });
});

describe('sums', () => {
  test('have room for every segment and for what belongs to none', () => {
    const sums = new ColumnSums(2, 0, 3);
    for (const segment of [NO_SEGMENT, 0, 1, 2]) sums.addSums(segment, 1, { facts: 1, sums: [] });
    expect(sums.listSeen()).toEqual([NO_SEGMENT, 0, 1, 2]);
  });

  test('are exact beyond what one number can hold', () => {
    const sums = new ColumnSums(2, 1, 5);
    // 9,007,199,254,740,993 is the first whole number that a double cannot represent.
    const amounts = splitAmounts([['3002399751580331']], 3);
    sums.add(4, 1, 3, amounts, 0);
    sums.add(NO_SEGMENT, 0, 1, amounts, 0);
    sums.addSums(4, 0, { facts: 2, sums: ['18014398509481986'] });
    expect(sums.sumUp([4])).toEqual([
      { bucket: 0, sums: [18_014_398_509_481_986n] },
      { bucket: 1, sums: [27_021_597_764_222_979n] },
    ]);
    expect(sums.sumUp()).toEqual([
      { bucket: 0, sums: [27_021_597_764_222_979n] },
      { bucket: 1, sums: [27_021_597_764_222_979n] },
    ]);
    expect([sums.total(4), sums.total(3)]).toEqual([45_035_996_273_704_965n, 0n]);
    expect(sums.listSeen()).toEqual([4, NO_SEGMENT]);
  });

  test('leave out what was taken off again, and what closes in the bucket in which it opened', () => {
    const sums = new ColumnSums(3, 1, 2);
    const one = splitAmounts([['1']], 1);
    sums.add(0, 1, 1, one, 0);
    sums.add(0, 1, -1, one, 0);
    sums.add(1, 0, 1, one, 0);
    sums.add(1, 2, -1, one, 0);
    expect(sums.listSeen()).toEqual([1]);
    expect(sums.sumUp([0, 1])).toEqual([
      { bucket: 0, sums: [1n] },
      { bucket: 2, sums: [-1n] },
    ]);
  });

  test('are bounded', () => {
    const sums = new ColumnSums(1000, 3, 3000);
    const fill = () => {
      for (let segment = 0; segment < 3000; segment++) sums.addSums(segment, 0, { facts: 1, sums: ['1', '1', '1'] });
    };
    expect(fill).toThrow(TooMuchToHold);
  });
});

describe('payers', () => {
  test('are counted once per bucket, range and segment', () => {
    const payers = new PayerCounts(2, 4);
    for (const [profile, bucket, segment] of [
      [1, 0, 0],
      [1, 0, 0],
      [1, 1, 0],
      [1, 1, 1],
      [1, 1, 2],
      [70_000, 1, 1],
    ] as const)
      payers.add(payers.placeOf(profile), bucket, segment, 1);
    expect([0, 1, 2, 3].map((segment) => payers.payersOf(segment))).toEqual([1, 2, 1, 0]);
    const count = (range: number, ...buckets: number[]) => ({ range, buckets: Int32Array.from(buckets) });
    expect(payers.count([0])).toMatchObject({ all: count(2, 1, 2), each: [count(1, 1, 1)], others: count(2, 0, 2) });
  });

  test('may have far more segments than there are pages', () => {
    const [PROFILES, SEGMENTS] = [3_000, 5];
    const payers = new PayerCounts(1, SEGMENTS);
    for (let segment = 0; segment < SEGMENTS; segment++) {
      for (let profile = 0; profile < PROFILES; profile++) payers.add(payers.placeOf(profile), 0, segment, 1);
    }
    const { all, each } = payers.count([0, 1, 2, 3, 4]);
    expect(all.range).toBe(3_000);
    expect(each.map(({ range }) => range)).toEqual([3_000, 3_000, 3_000, 3_000, 3_000]);
  });

  test('that are set apart count if more was bought than taken off', () => {
    const payers = new PayerCounts(40, 8);
    payers.setApart(5);
    for (const [bucket, purchases] of [
      [3, 1],
      [3, -1],
      [39, 2],
      [39, -1],
    ] as const)
      payers.add(payers.placeOf(5), bucket, 7, purchases);
    payers.finish();
    const { all } = payers.count([]);
    expect([all.range, all.buckets[3], all.buckets[39], payers.payersOf(7)]).toEqual([1, 0, 1, 1]);
  });

  test('are bounded', () => {
    const payers = new PayerCounts(1000, 1);
    const fill = () => {
      for (let i = 0; i < 2_000_000; i++) payers.add(payers.placeOf(i), 0, 0, 1);
    };
    expect(fill).toThrow(TooMuchToHold);
    const pages = () => {
      for (let page = 0; page < 2_000; page++) payers.placeOfPage(page);
    };
    expect(pages).toThrow(TooMuchToHold);
  });
});
