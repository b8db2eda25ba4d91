// Moments as quarters of an hour since 1970. They let columns answer queries in zones other than the app's, because
// nearly all days, in whatever zone, begin on a quarter.
import { type RawBuilder, sql } from 'kysely';

const QUARTER_S = 900;
const QUARTERS_PER_DAY = 96;

/**
 * Returns an expression for the quarter of an instant of `f`, counted from 00:00 UTC of the date on which it falls in
 * the app's zone. That keeps the number of distinct values at about a hundred.
 */
export function quarterOf(instant: string, day: string): RawBuilder<unknown> {
  return sql`floor(extract(epoch from ${sql.ref(`f.${instant}`)}) / ${sql.lit(QUARTER_S)})::integer - ${sql.lit(QUARTERS_PER_DAY)} * ${sql.ref(`f.${day}`)}`;
}

/** Returns the quarter since 1970 for a day and the quarter that `quarterOf` gives. */
export function joinQuarter(day: number, quarter: number): number {
  return day * QUARTERS_PER_DAY + quarter;
}

/** Returns instants, given in seconds, as quarters since 1970; undefined if any of them lies within a quarter. */
export function toQuarters(instants: readonly number[]): number[] | undefined {
  return instants.every((at) => at % QUARTER_S === 0) ? instants.map((at) => at / QUARTER_S) : undefined;
}
