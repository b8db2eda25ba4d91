// What an answer is held against that says what is wrong with a request.
import { expect } from 'vitest';

/** Status 400 with this code and exactly these entries, whose messages match. */
export function refused(error_code: string, ...errors: [source: string | null, message: string | RegExp][]) {
  const entries = errors.map(([source, message]) => ({ source, errors: [expect.stringMatching(message)] }));
  return { status: 400, json: { error_code, status_code: 400, errors: entries } };
}
