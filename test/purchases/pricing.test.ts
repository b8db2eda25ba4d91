// Amounts are rounded once, half up, to whole 10^-9 USD.
import { expect, test } from 'vitest';
import { priceRecord } from '../../src/purchases/pricing.ts';
import { toRecord } from '../../src/purchases/record.ts';
import type { TransactionBody } from '../../src/purchases/schema.ts';
import { oneTime } from './world.ts';

const amountsOf = (price: object, given: { rate?: string; commission?: string }) =>
  priceRecord(toRecord(oneTime({ price: { country: 'US', currency: 'XYZ', ...price } }) as TransactionBody), {
    rateOf: () => given.rate,
    commissionOf: () => given.commission,
  });

test.each([
  ['0.0004999', 0n],
  ['0.0005', 1n],
  ['0.0015', 2n],
])('a millionth is rounded half up at the rate %s', (rate, revenue_nano) => {
  expect(amountsOf({ value: 0.000001 }, { rate, commission: '0' })).toMatchObject({ revenue_nano });
});

test.each([
  ['0.9994', 1n],
  ['0.9995', 1n],
  ['0.9996', 0n],
])('a millionth less the commission %s is rounded half up', (commission, proceeds_nano) => {
  expect(amountsOf({ value: 0.000001, value_usd: 0.000001 }, { commission })).toMatchObject({ proceeds_nano });
});

test.each([
  ['app_store', undefined, 7_000_000_000n],
  ['play_store', undefined, 7_000_000_000n],
  ['stripe', undefined, 10_000_000_000n],
  ['play_store', '0.15', 8_500_000_000n],
])('%s with the commission %s', (store, commission, proceeds_nano) => {
  const body = oneTime({ store, price: { country: 'US', currency: 'USD', value: 10 } });
  const book = { rateOf: () => undefined, commissionOf: () => commission };
  expect(priceRecord(toRecord(body as TransactionBody), book)).toMatchObject({ proceeds_nano });
});
