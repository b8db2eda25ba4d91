// Moments as quarters of an hour since 1970, by which columns answer questions in other zones than the app's: nearly all edges of days lie on one.
import { type RawBuilder, sql } from 'kysely';

const QUARTER_S = 900;
const QUARTERS_PER_DAY = 96;

/** The quarter of an instant of `f`, counted from 00:00 UTC of the date that the app's zone has then: so there are about a hundred. */
export function quarterOf(instant: string, day: string): RawBuilder<unknown> {
  return sql`floor(extract(epoch from ${sql.ref(`f.${instant}`)}) / ${sql.lit(QUARTER_S)})::integer - ${sql.lit(QUARTERS_PER_DAY)} * ${sql.ref(`f.${day}`)}`;
}

/** The quarter since 1970 of a day and what is kept beside it. */
export function joinQuarter(day: number, quarter: number): number {
  return day * QUARTERS_PER_DAY + quarter;
}

/** Instants, in seconds, as quarters since 1970; undefined where one lies within a quarter. */
export function toQuarters(instants: readonly number[]): number[] | undefined {
  return instants.every((at) => at % QUARTER_S === 0) ? instants.map((at) => at / QUARTER_S) : undefined;
}
