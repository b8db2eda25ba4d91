// Amounts as whole millions and a rest, two numbers that stay exact when those of millions of amounts are summed. Pure.

export const MILLION = 1_000_000;
const EXACT_MILLION = BigInt(MILLION);

/** Of a whole number in decimal, times a factor. */
export function splitAmount(text: string, factor: number): [millions: number, rest: number] {
  const amount = Number(text) * factor;
  if (Number.isSafeInteger(amount)) return [(amount - (amount % MILLION)) / MILLION, amount % MILLION];
  const exact = BigInt(text) * BigInt(factor);
  return [Number(exact / EXACT_MILLION), Number(exact % EXACT_MILLION)];
}

/** The sum of whole millions and of what is beside them. */
export function joinMillions(millions: number, rest: number): bigint {
  const whole = millions * MILLION;
  const number = whole + rest;
  if (Number.isSafeInteger(whole) && Number.isSafeInteger(number)) return BigInt(number);
  return BigInt(millions) * EXACT_MILLION + BigInt(rest);
}
