// Deletes a profile. Its row stays as a nameless tombstone with its purchases and facts, so that every chart keeps its
// figures; what names or describes the user is removed, here and in the tables of other features.
import { type Kysely, sql } from 'kysely';
import { inTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { relabelNow } from '../facts/relabel.ts';
import type { ProfileIdentity } from './identity.ts';
import { lockProfileToDelete, throwNotFoundOrStale } from './queries.ts';
import type { ProfileKey } from './state.ts';
import { freeName } from './writes.ts';

/**
 * Tables whose rows are deleted with the profile. Its chains stay, to be taken over by the next profile that brings one
 * of them.
 */
const DELETED_TABLES = ['profile_attribution', 'access_grant', 'kept_response', 'lapse_watch'] as const;

async function deleteRows(
  trx: Kysely<DB>,
  table: (typeof DELETED_TABLES)[number],
  { app_id, profile_id }: ProfileKey,
): Promise<void> {
  await sql`delete from ${sql.table(table)} where app_id = ${app_id} and profile_id = ${profile_id}`.execute(trx);
}

async function makeTombstone(trx: Kysely<DB>, { app_id, profile_id }: ProfileKey): Promise<void> {
  await sql`
    update profile set customer_user_id = null, custom_attributes = '{}', deleted_at = clock_timestamp()
    where app_id = ${app_id} and profile_id = ${profile_id}`.execute(trx);
}

/**
 * Removes what names a deleted profile from its events, including those still to be delivered, and from what receivers
 * have answered or will answer. The members of these payloads lose their order, as jsonb does not keep it.
 */
export async function scrubEventsOf(trx: Kysely<DB>, { app_id, profile_id }: ProfileKey): Promise<void> {
  await sql`
    with scrubbed as (
      update webhook_event set
        customer_user_id = null,
        payload = (payload::jsonb || '{"customer_user_id": null, "attributions": {}, "user_attributes": {}}')::json
      where app_id = ${app_id} and profile_id = ${profile_id}
      returning sequence
    )
    update webhook_delivery set last_response = null, forgets_response = true
    from scrubbed where webhook_delivery.sequence = scrubbed.sequence`.execute(trx);
}

/** Removes a profile that the caller has locked for deletion. */
export async function removeProfile(trx: Kysely<DB>, app: App, profile_id: string): Promise<void> {
  const gone = { app_id: app.app_id, profile_id };
  // The name goes first: a post that found the profile by name holds the name's lock until it commits, so its record
  // exists by the time records are deleted below.
  await freeName(trx, gone);
  await relabelNow(trx, app, profile_id);
  for (const table of DELETED_TABLES) await deleteRows(trx, table, gone);
  await makeTombstone(trx, gone);
  await scrubEventsOf(trx, gone);
}

/** Throws profile_not_found if there is no such living profile. */
export async function deleteProfile(
  { db }: Pick<Deps, 'db'>,
  { app, identity }: { app: App; identity: ProfileIdentity },
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const profileId = await lockProfileToDelete(trx, app.app_id, identity);
    if (profileId === undefined) return throwNotFoundOrStale(trx, { app, identity });
    return removeProfile(trx, app, profileId);
  });
}
