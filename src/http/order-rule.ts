// Rules between datetimes of a body or a query (ajv.ts, Rules). Pure.
import { parseDatetime } from '../lib/datetime.ts';
import type { Rules } from './ajv.ts';

/** Returns a datetime of the body; undefined if it is not one, which the schema reports. */
export function momentOf(body: Record<string, unknown>, name: string): string | undefined {
  const value = body[name];
  return typeof value === 'string' ? parseDatetime(value) : undefined;
}

/** Requires one datetime to be later than the other if both are given. */
export function mustFollow(later: string, earlier: string): Rules {
  return (body) => {
    const [from, to] = [momentOf(body, earlier), momentOf(body, later)];
    if (from === undefined || to === undefined || to > from) return [];
    return [{ source: later, code: 'value_error', message: `Must be after ${earlier}.` }];
  };
}
