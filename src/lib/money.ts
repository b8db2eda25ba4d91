// Money is whole 10^-9 USD, a bigint in the process and in the database.

/** The most that an amount can be (docs/decisions/0003), and that the monthly share of a short period is taken for. */
export const MOST_NANO = 10n ** 18n;
