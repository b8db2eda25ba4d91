// The event feed: what happened, newest first, and what became of each delivery.
import { readCancellably } from '../../db/cancellable.ts';
import type { App, Deps } from '../../deps.ts';
import { valueError } from '../../errors.ts';
import { parseDatetime, toWire } from '../../lib/datetime.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { type FeedRow, listEventRows } from './queries.ts';
import { DEFAULT_LIMIT, type EventsQuery, type EventsResponse } from './schema.ts';

function toEntry({ event_id, event_type, created_at, payload, deliveries }: FeedRow): EventsResponse['data'][number] {
  return {
    event_id,
    event_type,
    created_at: toWire(created_at),
    payload,
    deliveries: deliveries.map((one) => ({ ...one, next_attempt_at: toWire(one.next_attempt_at) })),
  };
}

/** Returns a page of the feed; `signal` aborts when nobody waits for it any more. */
export async function listEvents(
  deps: Deps,
  { app, query, signal }: { app: App; query: EventsQuery; signal: AbortSignal },
): Promise<EventsResponse> {
  const after = query.cursor ? decodeCursor(query.cursor) : undefined;
  if (query.cursor && !after) throw valueError('cursor', 'Must be the next_cursor of an earlier response.');
  const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit);
  const filters = {
    event_type: query.event_type,
    profile_id: query.profile_id || undefined,
    customer_user_id: query.customer_user_id || undefined,
    since: query.since && parseDatetime(query.since),
    until: query.until && parseDatetime(query.until),
  };
  const rows = await readCancellably(deps, signal, {
    first: (each) => listEventRows(each, app.app_id, { filters, after, limit: limit + 1 }),
    rest: (_, found) => found,
  });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { data: page.map(toEntry), next_cursor: rows.length > limit && last ? encodeCursor(last) : null };
}
