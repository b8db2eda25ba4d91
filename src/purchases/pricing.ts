// Computes the amounts of a transaction in whole 10^-9 USD (analytics.md 1): fixed when it is recorded, integers from
// the wire on. Pure.
import type { FieldError } from '../errors.ts';
import { memoize } from '../lib/memoize.ts';
import { MAX_NANO } from '../lib/money.ts';
import type { TransactionRecord } from './record.ts';

export interface Amounts {
  revenue_nano: bigint;
  proceeds_nano: bigint;
  net_nano: bigint;
}

/** What determines the amounts, besides the UTC day of purchase. */
export const PRICING_COLUMNS = [
  'store',
  'price_currency',
  'price_value',
  'price_value_usd',
  'price_proceeds_usd',
  'price_tax_usd',
] as const satisfies (keyof TransactionRecord)[];

type PricedRecord = Pick<TransactionRecord, (typeof PRICING_COLUMNS)[number] | 'purchased_at'>;

/** What pricing needs to know, as decimal texts; undefined if there is none. */
export interface PriceBook {
  /** The app's commission for a store, as a fraction. */
  commissionOf: (store: string) => string | undefined;
  /** USD per unit of a currency on a UTC day (`YYYY-MM-DD`), or on the nearest of the seven days before it. */
  rateOf: (currency: string, day: string) => string | undefined;
}

const NANO_DECIMALS = 9;
const STORE_COMMISSIONS: ReadonlyMap<string, string> = new Map([
  ['app_store', '0.3'],
  ['play_store', '0.3'],
]);

interface Decimal {
  digits: bigint;
  decimals: number;
}

/** Powers of ten: computing one each time took longer than the rest of a conversion. */
const POWERS = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent));

function powerOfTen(exponent: number): bigint {
  return POWERS[exponent] ?? 10n ** BigInt(exponent);
}

/** The transactions of an import have few distinct prices and even fewer commissions. */
const MAX_CACHED_DECIMALS = 1_024;

const parseDecimal = memoize(MAX_CACHED_DECIMALS, (text): Decimal => {
  const [whole = '0', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), decimals: fraction.length };
});

/** Returns an amount in 10^-9, rounded half away from zero; only for amounts that are not negative. */
function toNano({ digits, decimals }: Decimal): bigint {
  if (decimals <= NANO_DECIMALS) return digits * powerOfTen(NANO_DECIMALS - decimals);
  const divisor = powerOfTen(decimals - NANO_DECIMALS);
  return (digits + divisor / 2n) / divisor;
}

function multiply(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, decimals: a.decimals + b.decimals };
}

function revenueOf(record: PricedRecord, book: PriceBook): bigint | FieldError {
  const { price_value, price_value_usd, price_currency, purchased_at } = record;
  if (price_value_usd !== null) return toNano(parseDecimal(price_value_usd));
  if (price_currency === 'USD') return toNano(parseDecimal(price_value));
  const rate = book.rateOf(price_currency, purchased_at.slice(0, 10));
  if (rate !== undefined) return toNano(multiply(parseDecimal(price_value), parseDecimal(rate)));
  const message = `There is no ${price_currency} rate for the day of purchase or the seven days before it; give value_usd.`;
  return { source: 'price.value_usd', code: 'value_error', message };
}

function proceedsOf(record: PricedRecord, revenue: bigint, book: PriceBook): bigint {
  if (record.price_proceeds_usd !== null) return toNano(parseDecimal(record.price_proceeds_usd));
  const commission = parseDecimal(book.commissionOf(record.store) ?? STORE_COMMISSIONS.get(record.store) ?? '0');
  const kept = { digits: powerOfTen(commission.decimals) - commission.digits, decimals: commission.decimals };
  return toNano(multiply({ digits: revenue, decimals: NANO_DECIMALS }, kept));
}

/** Returns the amounts of a record, or the faulty field if it has none. */
export function priceRecord(record: PricedRecord, book: PriceBook): Amounts | FieldError {
  const revenue = revenueOf(record, book);
  if (typeof revenue !== 'bigint') return revenue;
  if (revenue > MAX_NANO) {
    return { source: 'price.value', code: 'value_error', message: 'Must be at most 1000000000 USD.' };
  }
  const proceeds = proceedsOf(record, revenue, book);
  if (proceeds > revenue) {
    return { source: 'price.proceeds_usd', code: 'value_error', message: 'Must not be more than the price in USD.' };
  }
  const tax = record.price_tax_usd === null ? 0n : toNano(parseDecimal(record.price_tax_usd));
  if (tax > proceeds) {
    return { source: 'price.tax_usd', code: 'value_error', message: 'Must not be more than the proceeds.' };
  }
  return { revenue_nano: revenue, proceeds_nano: proceeds, net_nano: proceeds - tax };
}
