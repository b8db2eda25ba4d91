// A rule between two datetimes of a body or a query (ajv.ts, Rules).
import { parseDatetime } from '../lib/datetime.ts';
import type { Rules } from './ajv.ts';

/** The one must be later than the other, where both are given; what is no datetime has its own error. */
export function mustFollow(later: string, earlier: string): Rules {
  return (body) => {
    const [from, to] = [body[earlier], body[later]].map((value) =>
      typeof value === 'string' ? parseDatetime(value) : undefined,
    );
    if (from === undefined || to === undefined || to > from) return [];
    return [{ source: later, code: 'value_error', message: `Must be after ${earlier}.` }];
  };
}
