// Splits amounts into whole millions and a remainder, numbers that stay exact when those of millions of amounts are
// summed. Pure.

export const MILLION = 1_000_000;
const EXACT_MILLION = BigInt(MILLION);

/** Splits the product of a decimal integer and a factor. */
export function splitAmount(text: string, factor: number): [millions: number, rest: number] {
  const amount = Number(text) * factor;
  if (Number.isSafeInteger(amount)) return [(amount - (amount % MILLION)) / MILLION, amount % MILLION];
  const exact = BigInt(text) * BigInt(factor);
  return [Number(exact / EXACT_MILLION), Number(exact % EXACT_MILLION)];
}

/** Joins a sum of whole millions with the sum of their remainders. */
export function joinMillions(millions: number, rest: number): bigint {
  const whole = millions * MILLION;
  const number = whole + rest;
  if (Number.isSafeInteger(whole) && Number.isSafeInteger(number)) return BigInt(number);
  return BigInt(millions) * EXACT_MILLION + BigInt(rest);
}
