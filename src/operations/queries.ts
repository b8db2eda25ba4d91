// The statements of `sps doctor`. They only read, and wait for no locks.
import { type Kysely, sql } from 'kysely';
import { TAKES_WRITES } from '../db/server-run.ts';
import type { DB } from '../db/types.ts';
import { MAX_DELIVERIES_COUNTED } from '../webhooks/endpoint-queries.ts';
import { MAX_WAIT_S } from '../webhooks/schedule.ts';

export interface ServerFacts {
  version_number: number;
  version: string;
  /** The time on the server's clock, in milliseconds since 1970. */
  clock_ms: number;
  connections: number;
  most_connections: number;
  /** How many of those the server reserves for its administrators. */
  reserved_connections: number;
  /** Connection limits of the role and of the database; null if they have none. */
  role_limit: number | null;
  database_limit: number | null;
  encoding: string;
  database_bytes: number;
  /** False for a replica, and if the database was made read-only. */
  takes_writes: boolean;
}

async function readOne<T>(db: Kysely<DB>, statement: ReturnType<typeof sql<T>>): Promise<T> {
  const { rows } = await statement.execute(db);
  const [row] = rows;
  if (!row) throw new Error('expected one row, got none');
  return row;
}

export function readServerFacts(db: Kysely<DB>): Promise<ServerFacts> {
  return readOne(
    db,
    sql<ServerFacts>`
      select current_setting('server_version_num')::integer as version_number, current_setting('server_version') as version,
        extract(epoch from clock_timestamp())::float8 * 1000 as clock_ms,
        (select count(*)::integer from pg_stat_activity
          -- backend_type is null for other roles' backends if the user may not see it.
          where datid is not null and coalesce(backend_type, 'client backend') = 'client backend') as connections,
        current_setting('max_connections')::integer as most_connections,
        -- PostgreSQL 15 has no reserved_connections.
        current_setting('superuser_reserved_connections')::integer
          + coalesce(current_setting('reserved_connections', true), '0')::integer as reserved_connections,
        -- Superusers are exempt from their limit.
        (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user and not rolsuper) as role_limit,
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database()) as database_limit,
        current_setting('server_encoding') as encoding,
        pg_database_size(current_database())::float8 as database_bytes,
        ${TAKES_WRITES} as takes_writes`,
  );
}

export interface WebhookFacts {
  enabled: number;
  disabled: number;
  suspended: number;
  /** How many of the enabled ones are failing. */
  failing: number;
  pending: number;
  oldest_pending_seconds: number | null;
  /** How many of the pending ones were queued or postponed when the database's clock was ahead of its present time. */
  ahead_of_clock: number;
  dead: number;
}

/** How far apart the clocks of two processes may be. */
const CLOCKS_APART_S = 60;

/** Reads the facts. Counts of deliveries stop at MAX_DELIVERIES_COUNTED. */
export function readWebhookFacts(db: Kysely<DB>, now: Date): Promise<WebhookFacts> {
  return readOne(
    db,
    sql<WebhookFacts>`
      select count(*) filter (where state = 'enabled')::integer as enabled,
        count(*) filter (where state = 'disabled')::integer as disabled,
        count(*) filter (where state = 'suspended')::integer as suspended,
        count(*) filter (where state = 'enabled' and first_failure_at is not null)::integer as failing,
        (select count(*)::integer from (
          select from webhook_delivery d join webhook using (webhook_id)
          where d.state = 'pending' and webhook.state = 'enabled' limit ${MAX_DELIVERIES_COUNTED}) w) as pending,
        (select extract(epoch from ${now}::timestamptz - min(queued_at))::float8
          from webhook_delivery d join webhook using (webhook_id)
          where d.state = 'pending' and webhook.state = 'enabled') as oldest_pending_seconds,
        (select count(*)::integer from (
          select from webhook_delivery d join webhook using (webhook_id)
          where d.state = 'pending' and webhook.state = 'enabled'
            and greatest(queued_at, due_at - make_interval(secs => ${MAX_WAIT_S}))
              > ${now}::timestamptz + make_interval(secs => ${CLOCKS_APART_S})
          limit ${MAX_DELIVERIES_COUNTED}) a) as ahead_of_clock,
        (select count(*)::integer from (
          select from webhook_delivery d join webhook using (webhook_id) where d.state = 'dead' limit ${MAX_DELIVERIES_COUNTED}) d) as dead
      from webhook`,
  );
}
