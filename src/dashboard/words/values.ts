// Figures as they are read: money, counts and changes.

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
/** The least that is told. */
const LEAST_SHARE = 0.001;

export function formatValue(value: number, unit: Unit): string {
  // Half a cent below zero is written as zero, not as minus zero.
  const whole = Math.abs(value) < 0.005 ? 0 : value;
  return unit === 'USD' ? money.format(whole) : count.format(whole);
}

/** The marks of an axis, short: `$12.5K`; with cents where one of them has some: `$0.50`, `$1.00`. */
export function formatMarks(values: readonly number[], unit: Unit): string[] {
  const hasCents = values.some((value) => !Number.isInteger(value));
  const inMoney = hasCents ? money : shortMoney;
  return values.map((value) => (unit === 'USD' ? inMoney : shortCount).format(value));
}

/** How far, and where to. */
export interface Change {
  text: string;
  direction: 'up' | 'down' | 'same' | 'new';
}

/** From one value to another in percent of the first; of zero, or of less, a percentage would say nothing. */
export function describeChange(value: number, before: number): Change {
  if (value === before) return { text: '0%', direction: 'same' };
  const direction = value > before ? 'up' : 'down';
  if (before === 0 && value > 0) return { text: 'new', direction: 'new' };
  if (before <= 0) return { text: '', direction };
  const share = Math.abs((value - before) / before);
  // Beside an arrow 0% would contradict it.
  return { text: share < LEAST_SHARE / 2 ? `<${percent.format(LEAST_SHARE)}` : percent.format(share), direction };
}
