// Somebody else makes a profile or a customer user id of a batch while it is being written, or holds it: the next attempt sees what came of it.
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
 * Writes the records of a batch. Where somebody made one of theirs meanwhile, its halves are written one after the other: the less time a
 * transaction takes, the less is made in it, and a large batch beside busy clients would meet another collision at every attempt.
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
