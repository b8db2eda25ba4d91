// Money is whole 10^-9 USD, a bigint both in the process and in the database. Amounts are shown in whole 10^-6 USD,
// rounded once, half away from zero; binary floating point appears only in the number that is sent. Pure.

/** The largest possible amount (docs/decisions/0003), and the cap on the monthly share of a short period. */
export const MAX_NANO = 10n ** 18n;

const NANO_PER_MICRO = 1000n;
const MICRO_PER_USD = 1_000_000n;

function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const isNegative = dividend < 0n;
  const whole = ((isNegative ? -dividend : dividend) * 2n + divisor) / (divisor * 2n);
  return isNegative ? -whole : whole;
}

/** Divides an amount in 10^-9 USD by a count and returns 10^-6 USD; 0 if the count is zero. */
export function toMicros(nanos: bigint, per = 1n): bigint {
  return per === 0n ? 0n : divideRounded(nanos, NANO_PER_MICRO * per);
}

/** Formats 10^-6 USD as decimal USD: `-21.666667`, `12`. */
export function formatMicros(micros: bigint): string {
  const size = micros < 0n ? -micros : micros;
  const fraction = String(size % MICRO_PER_USD)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micros < 0n ? '-' : ''}${size / MICRO_PER_USD}${fraction && '.'}${fraction}`;
}

/** Converts 10^-6 USD to the nearest number of USD. */
export function microsToUsd(micros: bigint): number {
  const number = Number(micros);
  // The division rounds once, as parsing the text does, but parsing takes ten times as long.
  return Number.isSafeInteger(number) ? number / 1e6 : Number(formatMicros(micros));
}

/** Converts 10^-9 USD to a number of USD. */
export function toUsd(nanos: bigint): number {
  return microsToUsd(toMicros(nanos));
}
