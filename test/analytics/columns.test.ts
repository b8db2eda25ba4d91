// The parts of which answers from columns are made: the format, and sums and sets that stay exact and bounded.
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { ColumnSums, TooManySums } from '../../src/analytics/column-sums.ts';
import { PayerCounts, TooManyPayers } from '../../src/analytics/payer-counts.ts';
import { CODE_OFFSET, encodeColumn, encodePlaces, ROWS_PER_GROUP } from '../../src/facts/column-chunk.ts';
import { createTestDatabase } from '../setup/database.ts';

function decode({ dictionary, codes }: { dictionary: string; codes: string }): (string | undefined)[] {
  const values = dictionary.split(',');
  return Array.from({ length: codes.length }, (_, row) => values[codes.charCodeAt(row) - CODE_OFFSET]);
}

describe('a column chunk', () => {
  test('has the values back, none and negative ones too', () => {
    const values = ['7', '', '-3', '7', '1:2:3', ''];
    expect(decode(encodeColumn(values))).toEqual(values);
  });

  test('gives the most frequent values the codes of one byte', () => {
    const values = [...Array.from({ length: 200 }, (_, i) => `v${i}`), 'often', 'often'];
    const { dictionary, codes } = encodeColumn(values);
    expect(dictionary.split(',')[0]).toBe('often');
    expect(codes.charCodeAt(201)).toBe(CODE_OFFSET);
  });

  test('of as many different values as a group has rows is kept by the database as it is', async () => {
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

describe('sums', () => {
  test('are exact beyond what one number can hold', () => {
    const sums = new ColumnSums(2, 1);
    // 9,007,199,254,740,993 is the first whole number that a double does not have.
    const amounts = [Float64Array.of(9_007_199_254), Float64Array.of(740_993)];
    sums.add(sums.placeOf('4'), 1, 3, amounts, 0);
    sums.add(sums.placeOf(''), 0, -1, amounts, 0);
    expect(sums.toRows()).toEqual({
      buckets: [2, 1],
      keys: [4, null],
      counts: [3, -1],
      amounts: [[27_021_597_764_222_979n, -9_007_199_254_740_993n]],
    });
  });

  test('are bounded', () => {
    const sums = new ColumnSums(1000, 3);
    const fill = () => {
      for (let key = 0; key < 2000; key++) sums.placeOf(String(key));
    };
    expect(fill).toThrow(TooManySums);
  });
});

describe('payers', () => {
  test('are counted once per bucket, range and segment', () => {
    const counts = new PayerCounts(2, 2);
    for (const [profile, bucket, segment] of [
      [1, 0, 0],
      [1, 0, 0],
      [1, 1, 0],
      [1, 1, 1],
      [70_000, 1, 1],
    ] as const)
      counts.add(profile, bucket, segment);
    expect(counts.toRows()).toEqual([
      { bucket: null, segment: null, payers: 2 },
      { bucket: 1, segment: null, payers: 1 },
      { bucket: 2, segment: null, payers: 2 },
      { bucket: null, segment: 0, payers: 1 },
      { bucket: null, segment: 1, payers: 2 },
      { bucket: 1, segment: 0, payers: 1 },
      { bucket: 2, segment: 0, payers: 1 },
      { bucket: 2, segment: 1, payers: 2 },
    ]);
    expect(counts.countOthers((segment) => segment === 0)).toEqual([
      { bucket: null, segment: 'other', payers: 2 },
      { bucket: 2, segment: 'other', payers: 2 },
    ]);
  });

  test('are bounded', () => {
    const counts = new PayerCounts(1, 1);
    const fill = () => {
      for (let i = 0; i < 9_000_000; i++) counts.add(i % 100, 0, 0);
    };
    expect(fill).toThrow(TooManyPayers);
  });
});
