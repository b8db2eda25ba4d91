// Numbers of the advisory locks in the service's database, all in one place so that no two are the same. (The locks of
// an embedded server's users are pairs that begin with 0x5b5f: embedded/lease.ts.)

/** Session lock: one process migrates at a time (migrate.ts). */
export const MIGRATION_LOCK = 0x5b5f_0001;

/** Session lock, with an app's key: one process works on the app's totals and columns (facts/totals.ts). */
export const TOTALS_LOCK = 0x5b5f_0002;

/**
 * Transaction lock, with an app's key: the configuration of the app's products (facts/product-lock.ts). Taken before
 * any other lock that is waited for.
 */
export const PRODUCTS_LOCK = 0x5b5f_0003;

/**
 * Transaction lock of a hashed name: an Idempotency-Key (changes/kept-responses.ts). Taken before all others and never
 * waited for.
 */
export const IDEMPOTENCY_SEED = 5;

/**
 * Transaction lock of a hashed name: a chain of transactions (purchases/chain.ts). Taken after the app's products and
 * before the profiles.
 */
export const CHAIN_SEED = 6;

/** Session lock of a hashed name: a file that is being imported (import/file-lock.ts). */
export const FILE_SEED = 7;
