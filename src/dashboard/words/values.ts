// Formats figures for reading: money, counts and changes.

export type Unit = 'USD' | 'count';

const money = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const count = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const shortMoney = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  minimumFractionDigits: 0,
  maximumFractionDigits: 2,
});
const shortCount = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat('en-US', {
  style: 'percent',
  maximumFractionDigits: 1,
});
/** The smallest share shown; one that would round to zero is shown as less than this. */
const MIN_SHARE = 0.001;

export function formatValue(value: number, unit: Unit): string {
  // Less than half a cent below zero is written as zero, not as minus zero.
  const whole = Math.abs(value) < 0.005 ? 0 : value;
  return unit === 'USD' ? money.format(whole) : count.format(whole);
}

/**
 * Formats the marks of an axis: short, as in `$12.5K`, or all with cents if one of them has cents: `$0.50`, `$1.00`.
 */
export function formatMarks(values: readonly number[], unit: Unit): string[] {
  const hasCents = values.some((value) => !Number.isInteger(value));
  const inMoney = hasCents ? money : shortMoney;
  return values.map((value) => (unit === 'USD' ? inMoney : shortCount).format(value));
}

/** By how much a value changed, and in which direction. */
export interface Change {
  text: string;
  direction: 'up' | 'down' | 'same' | 'new';
}

/** Describes a change in percent of the value before; if that is zero or less, a percentage would mean nothing. */
export function describeChange(value: number, before: number): Change {
  if (value === before) return { text: '0%', direction: 'same' };
  const direction = value > before ? 'up' : 'down';
  if (before === 0 && value > 0) return { text: 'new', direction: 'new' };
  if (before <= 0) return { text: '', direction };
  const share = Math.abs((value - before) / before);
  // 0% beside an arrow would contradict it.
  return { text: share < MIN_SHARE / 2 ? `<${percent.format(MIN_SHARE)}` : percent.format(share), direction };
}
