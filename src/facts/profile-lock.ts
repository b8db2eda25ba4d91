// The lock of a profile, under which its transactions and facts are written.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';

/** Locks profiles in the order of their ids, as all writers do. */
export async function lockInOrder(trx: Kysely<DB>, appId: string, profileIds: readonly string[]): Promise<void> {
  await sql`
    select from profile where app_id = ${appId} and profile_id = any(${profileIds}::uuid[])
    order by profile_id for no key update`.execute(trx);
}
