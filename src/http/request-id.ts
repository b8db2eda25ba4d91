// The id of a request, sent in the Request-Id header of the response and logged with it.
import { randomFillSync } from 'node:crypto';

const BYTES = 16;
/** Random bytes for many ids, generated in one call. */
const pool = Buffer.alloc(BYTES * 256);
let next = pool.length;

/** Returns 32 random hex digits. */
export function newRequestId(): string {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const id = pool.toString('hex', next, next + BYTES);
  next += BYTES;
  return id;
}
