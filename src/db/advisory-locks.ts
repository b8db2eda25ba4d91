// The numbers of the advisory locks in the service's database, all in one place so that no two are the same. (Those of who uses an embedded
// server are pairs that begin with 0x5b5f: embedded/lease.ts.)

/** Session lock by itself: one process migrates at a time (migrate.ts). */
export const MIGRATION_LOCK = 0x5b5f_0001;

/** Session lock with an app's key: one process works on the app's totals and columns (facts/totals.ts). */
export const TOTALS_LOCK = 0x5b5f_0002;

/** Transaction lock with an app's key, before any other that is waited for: how the app's products are configured (facts/product-lock.ts). */
export const PRODUCTS_LOCK = 0x5b5f_0003;

/** Transaction lock of a hashed name, before all others and never waited for: an Idempotency-Key (changes/kept-answers.ts). */
export const ANSWER_SEED = 5;

/** Transaction lock of a hashed name, after the app's products and before the profiles: a chain of transactions (purchases/chain.ts). */
export const CHAIN_SEED = 6;

/** Session lock of a hashed name: a file that is being imported (import/file-lock.ts). */
export const FILE_SEED = 7;
