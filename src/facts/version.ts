// The version of an app's facts: a kept answer that was computed from them is valid for as long as the version stands.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import { SERVER_STARTED_AT } from '../db/server-run.ts';
import type { DB } from '../db/types.ts';

/** The slot of a connection; two that write concurrently nearly always have different slots. */
const SLOT = sql`(pg_backend_pid() % 256)::smallint`;

/** Raises the versions of the apps whose keys the query selects, each once. */
export function raiseVersions(appKeys: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into fact_version as v (app_key, slot, version)
    select app_key, ${SLOT}, 1 from ${appKeys} changed order by app_key
    on conflict (app_key, slot) do update set version = v.version + 1`;
}

/**
 * Records that the answers of an app's charts may differ from now on. Every transaction that changes facts, labels or
 * titles does this in its last writing statement, because others with the same slot wait from then until it ends.
 */
export async function raiseVersion(trx: Kysely<DB>, appKey: number): Promise<void> {
  await executePrepared(trx, 'raise_version', raiseVersions(sql`(select ${appKey}::integer as app_key)`));
}

/**
 * Returns the version that the snapshot of this statement sees, as text. No other run of a server has the same version:
 * if the last changes were lost, later ones could bring the sum back to where it was.
 */
export function versionOf(appKey: number): RawBuilder<string> {
  return sql`(select coalesce(sum(version), 0) || ' ' || ${SERVER_STARTED_AT} from fact_version where app_key = ${appKey})`;
}
