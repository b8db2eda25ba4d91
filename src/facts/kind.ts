// The column `kind` of facts and installs: a number whose bits hold everything that conditions test, and whether the
// row adds to the others or takes off from them.
import { type RawBuilder, sql } from 'kysely';
import { PERIODS } from './codes.ts';
import { FACT_IS } from './conditions.ts';

/** The bits lower than this one hold the code of the period. */
const REFUNDED = 16;
const PRICED = 32;
const ADDS_MONTHLY = 64;
/** Kinds from this number on belong to rows that take off other rows. */
export const TAKEN_OFF = 128;

const bit = (value: number, condition: RawBuilder<unknown>) => sql`${sql.lit(value)} * (${condition})::integer`;

const SIGN = bit(TAKEN_OFF, sql`f.sign < 0`);

/** The kind of an install's image `f`: installs differ only in the sign. */
export const INSTALL_KIND = sql`(${SIGN})`;

/** The kind of a fact's image `f`. */
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

/** The conditions of conditions.ts, applied to a kind. */
export const KIND_IS: Record<keyof typeof FACT_IS, (kind: Kind) => boolean> = {
  priced: ({ isPriced }) => isPriced,
  trial: isPeriod('trial'),
  paid: ({ period }) => period >= PERIODS.indexOf('activation') && period <= PERIODS.indexOf('renewal_6_plus'),
  first_paid: isPeriod('activation'),
  one_time: isPeriod('one_time'),
  not_refunded: ({ isRefunded }) => !isRefunded,
  adds_monthly: ({ addsMonthly }) => addsMonthly,
};
