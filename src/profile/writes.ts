// Statements that write one profile and its name.
import { type Kysely, sql, type Updateable } from 'kysely';
import { overlapping } from '../db/overlap.ts';
import { keepingPlans } from '../db/prepared.ts';
import type { DB, Profile } from '../db/types.ts';
import type { App } from '../deps.ts';
import { writeInstalls } from '../facts/installs.ts';
import type { Attributes } from './attributes.ts';
import type { ProfileKey } from './state.ts';

/**
 * Creates a profile that is installed now. Returns undefined, having created nothing, if the name already belongs to a
 * profile.
 */
export async function insertProfile(
  trx: Kysely<DB>,
  appId: string,
  customerUserId: string | null,
): Promise<string | undefined> {
  // One statement for both rows, because the foreign key from name to profile is checked at its end.
  const { rows } = await sql<{ profile_id: string }>`
    with made as (select gen_random_uuid() as profile_id), named as (
      insert into profile_identity (app_id, customer_user_id, profile_id)
      select ${appId}::uuid, ${customerUserId}::text, profile_id from made where ${customerUserId}::text is not null
      on conflict (app_id, customer_user_id) do nothing
      returning profile_id
    )
    insert into profile (app_id, profile_id, customer_user_id, installed_at)
    select ${appId}::uuid, profile_id, ${customerUserId}::text, clock_timestamp() from made
    where ${customerUserId}::text is null or exists (select from named)
    returning profile_id`.execute(trx);
  return rows[0]?.profile_id;
}

/**
 * Frees the name of the profile, unless it is `kept`. Finds the row by name: finding it by profile would read all
 * names.
 */
export async function freeName(trx: Kysely<DB>, { app_id, profile_id }: ProfileKey, kept?: string): Promise<void> {
  await sql`
    delete from profile_identity
    where app_id = ${app_id} and profile_id = ${profile_id} and customer_user_id is distinct from ${kept ?? null}::text
      and customer_user_id = (
        select customer_user_id from profile where app_id = ${app_id} and profile_id = ${profile_id})`.execute(trx);
}

/**
 * Gives the name to the profile unless another one has it. Returns the profile that has it afterwards, or undefined if
 * its owner freed it meanwhile: try again.
 */
export async function claimCustomer(
  trx: Kysely<DB>,
  { app_id, profile_id, customer_user_id }: ProfileKey & { customer_user_id: string },
): Promise<string | undefined> {
  const claimed = await trx
    .insertInto('profile_identity')
    .values({ app_id, profile_id, customer_user_id })
    .onConflict((conflict) => conflict.columns(['app_id', 'customer_user_id']).doNothing())
    .returning('profile_id')
    .executeTakeFirst();
  if (!claimed) {
    const owner = await trx
      .selectFrom('profile_identity')
      .select('profile_id')
      .where('app_id', '=', app_id)
      .where('customer_user_id', '=', customer_user_id)
      .executeTakeFirst();
    return owner?.profile_id;
  }
  await freeName(trx, { app_id, profile_id }, customer_user_id);
  await updateProfileRow(trx, { app_id, profile_id }, { customer_user_id });
  return profile_id;
}

export async function updateProfileRow(
  trx: Kysely<DB>,
  { app_id, profile_id }: ProfileKey,
  values: Updateable<Profile>,
): Promise<void> {
  await trx
    .updateTable('profile')
    .set(values)
    .where('app_id', '=', app_id)
    .where('profile_id', '=', profile_id)
    .execute();
}

export async function readAttributesOf(trx: Kysely<DB>, { app_id, profile_id }: ProfileKey): Promise<Attributes> {
  const { custom_attributes } = await trx
    .selectFrom('profile')
    .select('custom_attributes')
    .where('app_id', '=', app_id)
    .where('profile_id', '=', profile_id)
    .executeTakeFirstOrThrow();
  return custom_attributes as Attributes;
}

/** Writes the install fact of one profile. */
export async function writeInstallOf(trx: Kysely<DB>, app: App, profileId: string): Promise<void> {
  // writeInstalls executes two statements.
  await overlapping(trx, (each) => [
    writeInstalls(keepingPlans(each, 'write_install'), app, sql`(select ${profileId}::uuid as profile_id)`),
  ]);
}
