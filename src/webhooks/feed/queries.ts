// The one statement of the event feed.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../db/types.ts';
import { NEXT_ATTEMPT } from '../queue.ts';
import type { Position } from './cursor.ts';
import type { EventsResponse } from './schema.ts';

export interface FeedFilters {
  event_type: string | undefined;
  profile_id: string | undefined;
  customer_user_id: string | undefined;
  since: string | undefined;
  until: string | undefined;
}

type FeedDelivery = EventsResponse['data'][number]['deliveries'][number];

export interface FeedRow {
  sequence: string;
  event_id: string;
  event_type: string;
  created_at: string;
  payload: object;
  deliveries: FeedDelivery[];
}

/** Lists events of an app, newest first; with `after`, only those that follow that position. */
export async function listEventRows(
  db: Kysely<DB>,
  appId: string,
  { filters, after, limit }: { filters: FeedFilters; after: Position | undefined; limit: number },
): Promise<FeedRow[]> {
  const { event_type, profile_id, customer_user_id, since, until } = filters;
  const conditions = [
    sql`app_id = ${appId}`,
    event_type !== undefined && sql`event_type = ${event_type}`,
    profile_id !== undefined && sql`profile_id = ${profile_id}`,
    customer_user_id !== undefined && sql`customer_user_id = ${customer_user_id}`,
    since !== undefined && sql`created_at >= ${since}`,
    until !== undefined && sql`created_at < ${until}`,
    after && sql`(created_at, sequence) < (${after.created_at}::timestamptz, ${after.sequence}::bigint)`,
  ].filter((condition) => condition !== false && condition !== undefined);
  const { rows } = await sql<FeedRow>`
    select e.sequence::text, e.event_id, e.event_type, e.created_at, e.payload, (
      select coalesce(json_agg(json_build_object(
        'webhook_id', d.webhook_id,
        'state', d.state,
        'attempts', d.attempts,
        'last_status', d.last_status,
        'next_attempt_at', ${NEXT_ATTEMPT}
      ) order by d.webhook_id), '[]')
      from webhook_delivery d left join webhook w using (webhook_id) where d.sequence = e.sequence) as deliveries
    from (
      select * from webhook_event where ${sql.join(conditions, sql` and `)}
      order by created_at desc, sequence desc limit ${limit}
    ) e
    order by e.created_at desc, e.sequence desc`.execute(db);
  return rows;
}
