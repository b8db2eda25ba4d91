// Transactions, and what happens when others are in their way: they are retried, or given up after a short wait.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import { isConflict, isLockTimeout } from './failures.ts';
import type { DB } from './types.ts';

const ATTEMPTS = 4;

/** Retries after deadlocks and serialization failures, a few times. */
async function retryConflicts<T>(transact: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact();
    } catch (error) {
      if (attempt === ATTEMPTS || !isConflict(error)) throw error;
    }
  }
}

/** Runs `work` in a transaction, and retries it if others were in its way. */
export function inTransaction<T>(db: Kysely<DB>, work: (trx: Transaction<DB>) => Promise<T>): Promise<T> {
  return retryConflicts(() => db.transaction().execute(work));
}

/**
 * Like `inTransaction`, with one snapshot for all statements: if rows that they write have changed since, it retries.
 */
export function inSnapshot<T>(db: Kysely<DB>, work: (trx: Transaction<DB>) => Promise<T>): Promise<T> {
  return retryConflicts(() => db.transaction().setIsolationLevel('repeatable read').execute(work));
}

/** Like `inTransaction`, but waits for no lock longer than `lockTimeoutMs`. */
export function inTransactionWithLockTimeout<T>(
  db: Kysely<DB>,
  lockTimeoutMs: number,
  work: (trx: Transaction<DB>) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (trx) => {
    await sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`.execute(trx);
    return work(trx);
  });
}

/** Like `inTransactionWithLockTimeout`, but returns undefined if it would have to wait longer. */
export async function tryInTransaction<T>(
  db: Kysely<DB>,
  lockTimeoutMs: number,
  work: (trx: Transaction<DB>) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await inTransactionWithLockTimeout(db, lockTimeoutMs, work);
  } catch (error) {
    if (isLockTimeout(error)) return undefined;
    throw error;
  }
}

const CONTENDED = { waitMs: 100, restMs: 200, attempts: 200 };

/**
 * Runs work that takes a lock everybody else needs. It waits for the lock only a moment at a time, because all later
 * transactions queue behind it. Throws if it has not succeeded within a minute.
 */
export async function withContendedLock<T>(db: Kysely<DB>, work: (trx: Transaction<DB>) => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt < CONTENDED.attempts; attempt++) {
    const done = await tryInTransaction(db, CONTENDED.waitMs, async (trx) => ({ result: await work(trx) }));
    if (done) return done.result;
    await sleep(CONTENDED.restMs);
  }
  return inTransactionWithLockTimeout(db, CONTENDED.waitMs, work);
}
