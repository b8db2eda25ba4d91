// Statements about grants.
import { type Kysely, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';

export interface NewGrant {
  app_id: string;
  profile_id: string;
  access_level_id: string;
  starts_at: string | null;
  expires_at: string | null;
}

/** Stores the grant in place of an earlier one of the level; false, and nothing stored, if the app has no such level. */
export async function upsertGrant(trx: Kysely<DB>, grant: NewGrant): Promise<boolean> {
  const statement = sql<{ grant_id: string }>`
    insert into access_grant as g
      (app_id, profile_id, access_level_id, starts_at, expires_at, granted_at, first_granted_at)
    select app_id, ${grant.profile_id}, access_level_id, ${grant.starts_at}, ${grant.expires_at}, t.now, t.now
    from access_level, clock_timestamp() as t (now)
    where app_id = ${grant.app_id} and access_level_id = ${grant.access_level_id}
    on conflict (app_id, profile_id, access_level_id) do update set
      grant_id = excluded.grant_id,
      starts_at = excluded.starts_at,
      expires_at = excluded.expires_at,
      granted_at = excluded.granted_at
    returning grant_id`;
  return (await executePrepared(trx, 'upsert_grant', statement)).length > 0;
}

interface Level {
  app_id: string;
  profile_id: string;
  access_level_id: string;
}

/** A level of the app, whether the profile has a grant of it and until when, with the database's clock. */
export async function findLevel(trx: Kysely<DB>, { app_id, profile_id, access_level_id }: Level) {
  const { rows } = await sql<{ is_granted: boolean; expires_at: string | null; now: string }>`
    select g.grant_id is not null as is_granted, g.expires_at, clock_timestamp() as now
    from access_level l
    left join access_grant g on g.app_id = l.app_id and g.profile_id = ${profile_id}
      and g.access_level_id = l.access_level_id
    where l.app_id = ${app_id} and l.access_level_id = ${access_level_id}`.execute(trx);
  return rows[0];
}

export async function endGrant(
  trx: Kysely<DB>,
  { app_id, profile_id, access_level_id }: Level,
  expiresAt: string,
): Promise<void> {
  await trx
    .updateTable('access_grant')
    .set({ expires_at: expiresAt })
    .where('app_id', '=', app_id)
    .where('profile_id', '=', profile_id)
    .where('access_level_id', '=', access_level_id)
    .execute();
}
