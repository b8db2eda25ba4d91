// Rules between datetimes of a body or a query (ajv.ts, Rules). Pure.
import { parseDatetime } from '../lib/datetime.ts';
import type { Rules } from './ajv.ts';

/** A datetime of the body; what is none has its own error. */
export function momentOf(body: Record<string, unknown>, name: string): string | undefined {
  const value = body[name];
  return typeof value === 'string' ? parseDatetime(value) : undefined;
}

/** The one must be later than the other, where both are given. */
export function mustFollow(later: string, earlier: string): Rules {
  return (body) => {
    const [from, to] = [momentOf(body, earlier), momentOf(body, later)];
    if (from === undefined || to === undefined || to > from) return [];
    return [{ source: later, code: 'value_error', message: `Must be after ${earlier}.` }];
  };
}
