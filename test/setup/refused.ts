// The expected answer to a request that is refused, saying what is wrong with it.
import { expect } from 'vitest';

/** Expects status 400 with this code and exactly these entries, whose messages must match. */
export function refused(error_code: string, ...errors: [source: string | null, message: string | RegExp][]) {
  const entries = errors.map(([source, message]) => ({ source, errors: [expect.stringMatching(message)] }));
  return { status: 400, json: { error_code, status_code: 400, errors: entries } };
}
