// Money is whole 10^-9 USD, a bigint in the process and in the database. What is shown of it is whole 10^-6 USD, rounded once, half away from
// zero; binary floating point appears only in the number that is sent. Pure.

/** The most that an amount can be (docs/decisions/0003), and that the monthly share of a short period is taken for. */
export const MOST_NANO = 10n ** 18n;

const NANO_PER_MICRO = 1000n;
const MICRO_PER_USD = 1_000_000n;

function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const isNegative = dividend < 0n;
  const whole = ((isNegative ? -dividend : dividend) * 2n + divisor) / (divisor * 2n);
  return isNegative ? -whole : whole;
}

/** 10^-6 USD of an amount in 10^-9 USD, divided by a count; over zero it is 0. */
export function toMicros(nanos: bigint, per = 1n): bigint {
  return per === 0n ? 0n : divideRounded(nanos, NANO_PER_MICRO * per);
}

/** The decimal text of 10^-6 USD: `-21.666667`, `12`. */
export function formatMicros(micros: bigint): string {
  const size = micros < 0n ? -micros : micros;
  const fraction = String(size % MICRO_PER_USD)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micros < 0n ? '-' : ''}${size / MICRO_PER_USD}${fraction && '.'}${fraction}`;
}

/** 10^-6 USD as the number of USD that is nearest to it. */
export function microsToUsd(micros: bigint): number {
  const number = Number(micros);
  // A division rounds once, as reading the text does, which takes ten times as long.
  return Number.isSafeInteger(number) ? number / 1e6 : Number(formatMicros(micros));
}

/** 10^-9 USD as a number of USD. */
export function toUsd(nanos: bigint): number {
  return microsToUsd(toMicros(nanos));
}
