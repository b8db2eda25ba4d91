// The version of an app's facts: whoever keeps an answer computed from them keeps it for as long as the version stands.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import { SERVER_STARTED_AT } from '../db/server-run.ts';
import type { DB } from '../db/types.ts';

/** Of one connection; two that write at once nearly always have different ones. */
const SLOT = sql`(pg_backend_pid() % 256)::smallint`;

/** Raises the versions of the apps whose keys the query gives, each once. */
export function raiseVersions(appKeys: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into fact_version as v (app_key, slot, version)
    select app_key, ${SLOT}, 1 from ${appKeys} changed order by app_key
    on conflict (app_key, slot) do update set version = v.version + 1`;
}

/**
 * Says that the answers of an app's charts may differ from now on. The last statement that writes in every transaction that changes
 * facts, labels or titles: another one with the same slot waits for its end.
 */
export async function raiseVersion(trx: Kysely<DB>, appKey: number): Promise<void> {
  await executePrepared(trx, 'raise_version', raiseVersions(sql`(select ${appKey}::integer as app_key)`));
}

/**
 * The version that the snapshot of this statement sees; text. That of no other run of a server: where the last changes were lost, others
 * could bring the sum to where it was.
 */
export function versionOf(appKey: number): RawBuilder<string> {
  return sql`(select coalesce(sum(version), 0) || ' ' || ${SERVER_STARTED_AT} from fact_version where app_key = ${appKey})`;
}
