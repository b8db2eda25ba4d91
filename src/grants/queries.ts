// Statements that read and write grants.
import { type Kysely, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';

/** Identifies a grant: a profile has at most one of each level. */
export interface GrantKey {
  app_id: string;
  profile_id: string;
  access_level_id: string;
}

export interface NewGrant extends GrantKey {
  starts_at: string | null;
  expires_at: string | null;
}

/**
 * Stores grants of different profiles, each replacing an earlier one of the same level. Returns whether each was
 * stored; one is not if its app has no such level. The caller holds the locks of the profiles.
 */
export async function upsertGrants(trx: Kysely<DB>, grants: readonly NewGrant[]): Promise<boolean[]> {
  const column = (name: keyof NewGrant) => grants.map((grant) => grant[name]);
  const statement = sql<{ profile_id: string }>`
    insert into access_grant as g
      (app_id, profile_id, access_level_id, starts_at, expires_at, granted_at, first_granted_at)
    select app_id, profile_id, access_level_id, starts_at, expires_at, t.now, t.now
    from unnest(
      ${column('app_id')}::uuid[], ${column('profile_id')}::uuid[], ${column('access_level_id')}::text[],
      ${column('starts_at')}::timestamptz[], ${column('expires_at')}::timestamptz[]
    ) as given (app_id, profile_id, access_level_id, starts_at, expires_at)
    join access_level using (app_id, access_level_id), clock_timestamp() as t (now)
    on conflict (app_id, profile_id, access_level_id) do update set
      grant_id = excluded.grant_id,
      starts_at = excluded.starts_at,
      expires_at = excluded.expires_at,
      granted_at = excluded.granted_at
    returning profile_id`;
  const stored = new Set((await executePrepared(trx, 'upsert_grants', statement)).map(({ profile_id }) => profile_id));
  return grants.map(({ profile_id }) => stored.has(profile_id));
}

/**
 * Returns a level of the app: whether the profile has a grant of it and until when, and the time by the database's
 * clock.
 */
export async function findLevelAndGrant(trx: Kysely<DB>, { app_id, profile_id, access_level_id }: GrantKey) {
  const { rows } = await sql<{ is_granted: boolean; expires_at: string | null; now: string }>`
    select g.grant_id is not null as is_granted, g.expires_at, clock_timestamp() as now
    from access_level l
    left join access_grant g on g.app_id = l.app_id and g.profile_id = ${profile_id}
      and g.access_level_id = l.access_level_id
    where l.app_id = ${app_id} and l.access_level_id = ${access_level_id}`.execute(trx);
  return rows[0];
}

/** Sets the end of a grant to a timestamp; the caller holds the profile's lock. */
export async function endGrant(
  trx: Kysely<DB>,
  { app_id, profile_id, access_level_id }: GrantKey,
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
