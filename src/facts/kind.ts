// The column `kind` of facts and installs: what conditions ask of one, and whether the row takes it off, as bits of a number.
import { type RawBuilder, sql } from 'kysely';
import { PERIODS } from './codes.ts';
import { FACT_IS } from './conditions.ts';

/** The code of the period is below. */
const REFUNDED = 16;
const PRICED = 32;
const ADDS_MONTHLY = 64;
/** All kinds from here on are of rows that take off what others have added. */
export const TAKEN_OFF = 128;

const bit = (value: number, condition: RawBuilder<unknown>) => sql`${sql.lit(value)} * (${condition})::integer`;

const SIGN = bit(TAKEN_OFF, sql`f.sign < 0`);

/** Of the image `f` of an install: its sign is all that installs differ in. */
export const INSTALL_KIND = sql`(${SIGN})`;

/** Of the image `f` of a fact. */
export const FACT_KIND = sql`(f.period + ${bit(REFUNDED, sql`not (${sql.raw(FACT_IS.not_refunded)})`)} + ${bit(PRICED, sql.raw(FACT_IS.priced))}
  + ${bit(ADDS_MONTHLY, sql.raw(FACT_IS.adds_monthly))} + ${SIGN})`;

export interface Kind {
  /** The code in PERIODS. */
  period: number;
  isRefunded: boolean;
  isPriced: boolean;
  addsMonthly: boolean;
  sign: 1 | -1;
}

export function readKind(kind: number): Kind {
  return {
    period: kind % REFUNDED,
    isRefunded: (kind & REFUNDED) !== 0,
    isPriced: (kind & PRICED) !== 0,
    addsMonthly: (kind & ADDS_MONTHLY) !== 0,
    sign: (kind & TAKEN_OFF) === 0 ? 1 : -1,
  };
}

const isPeriod = (name: (typeof PERIODS)[number]) => {
  const code = PERIODS.indexOf(name);
  return ({ period }: Kind) => period === code;
};

/** The conditions of conditions.ts, asked of a kind. */
export const KIND_IS: Record<keyof typeof FACT_IS, (kind: Kind) => boolean> = {
  priced: ({ isPriced }) => isPriced,
  trial: isPeriod('trial'),
  paid: ({ period }) => period >= PERIODS.indexOf('activation') && period <= PERIODS.indexOf('renewal_6_plus'),
  first_paid: isPeriod('activation'),
  one_time: isPeriod('one_time'),
  not_refunded: ({ isRefunded }) => !isRefunded,
  adds_monthly: ({ addsMonthly }) => addsMonthly,
};
