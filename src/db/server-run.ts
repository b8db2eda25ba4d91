// Which run of which server the connections lead to. A standby that takes over, or a backup that is restored behind the same address, may
// lack the last transactions: what a process remembers of the database is worth nothing there. Every run begins at a moment of its own.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import type { DB } from './types.ts';

const STARTED_AT = 'pg_postmaster_start_time()::text';
const ANSWER_MS = 5_000;

/** When the server was started on which the statement runs; text. */
export const SERVER_STARTED_AT: RawBuilder<string> = sql.raw(STARTED_AT);

/** Whether that server takes writes: it is no replica, nor was the database made read-only. */
export const TAKES_WRITES: RawBuilder<boolean> = sql.raw(`current_setting('transaction_read_only') = 'off'`);
export const TAKES_NO_WRITES = 'The database takes no writes: it is a replica, or was made read-only.';

export async function takesWrites(db: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql<{ takes_writes: boolean }>`select ${TAKES_WRITES} as takes_writes`.execute(db);
  return rows[0]?.takes_writes === true;
}

export interface ServerRun {
  /** Grows before the first statement is sent to a server that was started at another time. */
  readonly number: number;
  /** For every new connection, before it is used. */
  meet: (client: pg.ClientBase) => Promise<void>;
}

/** For what remembers nothing beyond one run of a server: a command, an import. */
export const ONE_RUN: Pick<ServerRun, 'number'> = { number: 0 };

export function createServerRun(): ServerRun {
  let number = 0;
  let known: string | undefined;
  return {
    get number() {
      return number;
    },
    async meet(client) {
      const query = { text: `select ${STARTED_AT} as started_at`, query_timeout: ANSWER_MS };
      const { rows } = await client.query<{ started_at: string }>(query);
      const { started_at } = rows[0]!;
      if (known !== undefined && known !== started_at) number++;
      known = started_at;
    },
  };
}
