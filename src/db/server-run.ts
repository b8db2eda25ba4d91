// Detects that connections lead to another server, or to another run of the same one. A standby that takes over, or a
// backup restored behind the same address, may lack the latest transactions, so whatever a process has cached from the
// database is invalid there. Each run is identified by its start time.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import type { DB } from './types.ts';

const STARTED_AT = 'pg_postmaster_start_time()::text';
const ANSWER_MS = 5_000;

/** Start time of the server that runs the statement, as text. */
export const SERVER_STARTED_AT: RawBuilder<string> = sql.raw(STARTED_AT);

/** Whether that server takes writes: it is not a replica and the database has not been made read-only. */
export const TAKES_WRITES: RawBuilder<boolean> = sql.raw(`current_setting('transaction_read_only') = 'off'`);
export const TAKES_NO_WRITES = 'The database is read-only: it is a replica or has been made read-only.';

export async function takesWrites(db: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql<{ takes_writes: boolean }>`select ${TAKES_WRITES} as takes_writes`.execute(db);
  return rows[0]?.takes_writes === true;
}

export interface ServerRun {
  /** Increases before the first statement is sent to a server with another start time. */
  readonly number: number;
  /** To be called with every new connection before it is used. */
  onConnect: (client: pg.ClientBase) => Promise<void>;
}

/** For a process that caches nothing beyond one run of a server: a command, an import. */
export const ONE_RUN: Pick<ServerRun, 'number'> = { number: 0 };

export function createServerRun(): ServerRun {
  let number = 0;
  let known: string | undefined;
  return {
    get number() {
      return number;
    },
    async onConnect(client) {
      const query = { text: `select ${STARTED_AT} as started_at`, query_timeout: ANSWER_MS };
      const { rows } = await client.query<{ started_at: string }>(query);
      const { started_at } = rows[0]!;
      if (known !== undefined && known !== started_at) number++;
      known = started_at;
    },
  };
}
