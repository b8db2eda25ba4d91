// sps rate import: all of a file or nothing.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { importRates } from '../../src/import/rates.ts';
import { createWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  await world.database.db.deleteFrom('currency_rate').execute();
});
afterAll(() => world.close());

function rates() {
  return world.database.db.selectFrom('currency_rate').selectAll().orderBy('rate_date').orderBy('currency').execute();
}

async function take(content: string, name = 'rates.csv') {
  return importRates(world.database, await world.file(name, content));
}

test('columns may be in any order; a repeated rate is replaced, and the last one counts', async () => {
  expect(await take('currency,usd_per_unit,date\nEUR,1.1,2025-01-01\nJPY,0.0067,2025-01-01\n')).toEqual({ read: 2 });
  expect(await take('date,currency,usd_per_unit\n2025-01-01,EUR,1.2\n2025-01-01,EUR,1.3')).toEqual({ read: 2 });
  expect(await rates()).toEqual([
    { currency: 'EUR', rate_date: '2025-01-01', usd_per_unit: '1.3' },
    { currency: 'JPY', rate_date: '2025-01-01', usd_per_unit: '0.0067' },
  ]);
});

test('the name of the file may end in .CSV, as in other imports', async () => {
  expect(await take('date,currency,usd_per_unit\n2025-01-01,EUR,1.2\n', 'RATES.CSV')).toEqual({ read: 1 });
});

test.each(['999999999.999999999999', '0.000000000001'])(
  '%s, the largest or smallest rate that is permitted, is stored exactly',
  async (rate) => {
    await take(`date,currency,usd_per_unit\n2025-01-01,EUR,${rate}\n`);
    expect(await rates()).toMatchObject([{ usd_per_unit: rate }]);
  },
);

test('more rates can be imported than one statement takes', async () => {
  const lines = Array.from({ length: 12_000 }, (_, index) => {
    const date = new Date(Date.UTC(1990, 0, 1 + index)).toISOString().slice(0, 10);
    return `${date},EUR,1.${index}\n`;
  });
  expect(await take(`date,currency,usd_per_unit\n${lines.join('')}`)).toEqual({ read: 12_000 });
  expect(await rates()).toHaveLength(12_000);
});

test('if two files with rates in opposite orders are imported concurrently, one waits for the other', async () => {
  const line = (day: number) => `${new Date(Date.UTC(1950, 0, day)).toISOString().slice(0, 10)},EUR,1\n`;
  const lines = Array.from({ length: 40_000 }, (_, index) => line(index + 1));
  const header = 'date,currency,usd_per_unit\n';
  const taken = await Promise.all([
    take(header + lines.join(''), 'rising.csv'),
    take(header + lines.toReversed().join(''), 'falling.csv'),
  ]);
  expect(taken).toEqual([{ read: 40_000 }, { read: 40_000 }]);
  expect(await rates()).toHaveLength(40_000);
});

test.each([
  ['2025-02-29,EUR,1', 'date must be YYYY-MM-DD, not "2025-02-29".'],
  ['0000-01-01,EUR,1', 'date must be YYYY-MM-DD, not "0000-01-01".'],
  ['2025-02-28,eur,1', 'currency must be three capital letters, not "eur".'],
  ['2025-02-28,EURO,1', 'currency must be three capital letters, not "EURO".'],
  ['2025-02-28,EUR,0', 'usd_per_unit must be a number above 0 and below 10^9 with at most 12 decimals, not "0".'],
  [
    '2025-02-28,EUR,1.1234567890123',
    'usd_per_unit must be a number above 0 and below 10^9 with at most 12 decimals, not "1.1234567890123".',
  ],
  [
    '2025-02-28,EUR,1000000000',
    'usd_per_unit must be a number above 0 and below 10^9 with at most 12 decimals, not "1000000000".',
  ],
  ['2025-02-28,EUR,-1', 'usd_per_unit must be a number above 0 and below 10^9 with at most 12 decimals, not "-1".'],
  ['2025-02-28,EUR,"1,5"', 'usd_per_unit must be a number above 0 and below 10^9 with at most 12 decimals, not "1,5".'],
  ['2025-02-28,EUR', 'The record has 2 cells; the header has 3.'],
])('%s: nothing of the file is imported', async (line, reason) => {
  await expect(take(`date,currency,usd_per_unit\n2025-01-01,EUR,1\n${line}\n`)).rejects.toThrow(
    `Line 3: ${reason} No rates were imported.`,
  );
  expect(await rates()).toEqual([]);
});

test('a file without the columns, of another form, or that does not exist is refused', async () => {
  await expect(take('day,currency,usd_per_unit\n2025-01-01,EUR,1\n')).rejects.toThrow(
    /^There is no column date: the first line must name date, currency, usd_per_unit. No rates were imported.$/,
  );
  await expect(take('[]', 'rates.json')).rejects.toThrow('must end in .csv');
  await expect(importRates(world.database, '/nowhere/rates.csv')).rejects.toThrow(
    'Cannot read /nowhere/rates.csv: there is no such file.',
  );
});
