// While a batch is being written, somebody else may create one of its profiles or customer user ids, or hold a lock on
// it: the next attempt sees the outcome.
import { isLockTimeout, isUniqueViolation } from '../db/failures.ts';
import type { Written } from './kind.ts';

const ATTEMPTS = 5;

type Write<T> = (records: readonly T[]) => Promise<Written>;

async function writeHalves<T>(records: readonly T[], write: Write<T>): Promise<Written> {
  const middle = Math.ceil(records.length / 2);
  const first = await writeDespiteCollisions(records.slice(0, middle), write);
  const second = await writeDespiteCollisions(records.slice(middle), write);
  const later = [...second.refused].map(([index, fault]) => [index + middle, fault] as const);
  return {
    written: first.written + second.written,
    refused: new Map([...first.refused, ...later]),
    unconfigured: [first, second].flatMap(({ unconfigured = [] }) => unconfigured),
  };
}

/**
 * Writes the records of a batch. If somebody else created one of its profiles meanwhile, its halves are written one
 * after the other: the shorter a transaction, the less is created while it runs, and a large batch alongside busy
 * clients would collide at every attempt.
 */
export async function writeDespiteCollisions<T>(records: readonly T[], write: Write<T>): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(records);
    } catch (error) {
      const isCollision = isUniqueViolation(error);
      if (isCollision && records.length > 1) return writeHalves(records, write);
      if (attempt === ATTEMPTS || !(isCollision || isLockTimeout(error))) throw error;
    }
  }
}
