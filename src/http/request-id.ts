// The id of a request: in the answer's Request-Id header and in its log line.
import { randomFillSync } from 'node:crypto';

const BYTES = 16;
/** Randomness is fetched for many at once. */
const pool = Buffer.alloc(BYTES * 256);
let next = pool.length;

/** 32 hex digits. */
export function newRequestId(): string {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const id = pool.toString('hex', next, next + BYTES);
  next += BYTES;
  return id;
}
