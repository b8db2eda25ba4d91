// Statements that read and write many profiles at a time; each takes its rows as arrays.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { queueLabels, recordAttributions } from '../../attribution/record.ts';
import { planningEachTime } from '../../db/prepared.ts';
import type { DB } from '../../db/types.ts';
import type { App } from '../../deps.ts';
import { writeInstalls } from '../../facts/installs.ts';
import { fromDatabase } from '../../lib/datetime.ts';
import type { ProfileIdentity } from '../../profile/identity.ts';
import { distinctTexts } from '../identity.ts';
import type { Change, Known, Profile } from './apply.ts';

interface Row extends Omit<Profile, 'attribution'> {
  is_deleted: boolean;
}

/**
 * Reads in a statement of its own, once the profiles are locked: a statement that waits for a lock sees joined rows as
 * they were before the wait.
 */
async function readAttributions(trx: Kysely<DB>, app: App, ids: readonly string[]) {
  const { rows } = await sql<NonNullable<Profile['attribution']> & { profile_id: string }>`
    select profile_id, attribution_key, attribution_user_id from profile_attribution
    where app_id = ${app.app_id} and profile_id = any(${ids}::uuid[])`.execute(trx);
  return new Map(rows.map(({ profile_id, ...attribution }) => [profile_id, attribution]));
}

/** Locks the profiles that the identifiers name, in the order of profile_id, and reads them. */
export async function lockNamedProfiles(
  trx: Kysely<DB>,
  app: App,
  identities: readonly ProfileIdentity[],
): Promise<Known> {
  const ids = distinctTexts(identities.map(({ profile_id }) => profile_id));
  const customerIds = distinctTexts(identities.map(({ customer_user_id }) => customer_user_id));
  const { rows } = await sql<Row>`
    select p.profile_id, p.customer_user_id, p.installed_at, p.country, p.store, p.custom_attributes,
      p.deleted_at is not null as is_deleted
    from profile p
    where p.app_id = ${app.app_id} and p.profile_id in (
      select unnest(${ids}::uuid[])
      union
      select profile_id from profile_identity
      where app_id = ${app.app_id} and customer_user_id = any(${customerIds}::text[]))
    order by p.profile_id
    for no key update of p`.execute(trx);
  const living = rows.filter(({ is_deleted }) => !is_deleted);
  const attributions = await readAttributions(
    trx,
    app,
    living.map(({ profile_id }) => profile_id),
  );
  const profiles = living.map(({ is_deleted: _, ...row }): Profile => {
    const attribution = attributions.get(row.profile_id) ?? null;
    return { ...row, installed_at: fromDatabase(row.installed_at), attribution };
  });
  const deletedIds = new Set(rows.filter(({ is_deleted }) => is_deleted).map(({ profile_id }) => profile_id));
  return { profiles, deletedIds };
}

function relation(profiles: readonly Profile[]): RawBuilder<unknown> {
  const column = (name: keyof Profile) => profiles.map((profile) => profile[name]);
  const attributes = profiles.map(({ custom_attributes }) => JSON.stringify(custom_attributes));
  return sql`(select * from unnest(${column('profile_id')}::uuid[], ${column('customer_user_id')}::text[],
    ${column('installed_at')}::timestamptz[], ${column('country')}::text[], ${column('store')}::text[],
    ${attributes}::jsonb[]) as t (profile_id, customer_user_id, installed_at, country, store, custom_attributes))`;
}

async function insertProfiles(trx: Kysely<DB>, app: App, profiles: readonly Profile[]): Promise<void> {
  await sql`
    insert into profile (app_id, profile_id, customer_user_id, installed_at, country, store, custom_attributes)
    select ${app.app_id}, profile_id, customer_user_id, installed_at, country, store, custom_attributes
    from ${relation(profiles)} given order by profile_id`.execute(trx);
}

async function updateProfiles(trx: Kysely<DB>, app: App, profiles: readonly Profile[]): Promise<void> {
  await sql`
    update profile p set customer_user_id = given.customer_user_id, installed_at = given.installed_at,
      country = given.country, store = given.store, custom_attributes = given.custom_attributes
    from ${relation(profiles)} given
    where p.app_id = ${app.app_id} and p.profile_id = given.profile_id`.execute(trx);
}

interface NameChanges {
  /** Names that belong to nobody any more. */
  gone: string[];
  /** Named profiles whose name belonged to another profile of the batch. */
  handedOver: Profile[];
  /** Named profiles whose name belonged to none. */
  added: Profile[];
}

function sortNameChanges(changes: readonly Change[]): NameChanges {
  const moved = changes.filter(({ before, after }) => before?.customer_user_id !== after.customer_user_id);
  const freed = new Set(distinctTexts(moved.map(({ before }) => before?.customer_user_id ?? null)));
  const named = moved.filter(({ after }) => after.customer_user_id !== null).map(({ after }) => after);
  const names = new Set(named.map(({ customer_user_id }) => customer_user_id));
  const isHandedOver = ({ customer_user_id }: Profile) => freed.has(customer_user_id as string);
  return {
    gone: [...freed].filter((name) => !names.has(name)),
    handedOver: named.filter(isHandedOver),
    added: named.filter((profile) => !isHandedOver(profile)),
  };
}

async function deleteNames(trx: Kysely<DB>, app: App, names: readonly string[]): Promise<void> {
  await sql`delete from profile_identity where app_id = ${app.app_id}
    and customer_user_id = any(${names}::text[])`.execute(trx);
}

/**
 * Updates names in place, because attributions waiting for such a name would not find a new row. Locks them first,
 * because the update alone would not block those who write to the former owner.
 */
async function handOverNames(trx: Kysely<DB>, app: App, profiles: readonly Profile[]): Promise<void> {
  await sql`select from profile_identity
    where app_id = ${app.app_id} and customer_user_id in (select customer_user_id from ${relation(profiles)} given)
    order by customer_user_id for update`.execute(trx);
  await sql`update profile_identity i set profile_id = given.profile_id from ${relation(profiles)} given
    where i.app_id = ${app.app_id} and i.customer_user_id = given.customer_user_id`.execute(trx);
}

/**
 * Violates the key if a customer user id has come to belong to another profile meanwhile; the batch is then retried.
 */
async function insertNames(trx: Kysely<DB>, app: App, profiles: readonly Profile[]): Promise<void> {
  await sql`
    insert into profile_identity (app_id, customer_user_id, profile_id)
    select ${app.app_id}, customer_user_id, profile_id from ${relation(profiles)} given
    order by customer_user_id`.execute(trx);
}

async function writeNames(trx: Kysely<DB>, app: App, changes: readonly Change[]): Promise<void> {
  const { gone, handedOver, added } = sortNameChanges(changes);
  if (gone.length > 0) await deleteNames(trx, app, gone);
  if (handedOver.length > 0) await handOverNames(trx, app, handedOver);
  if (added.length > 0) await insertNames(trx, app, added);
}

/**
 * Writes the attributions that changed. If the app keeps the first attribution, one posted since the profiles were read
 * stays, too.
 */
async function writeAttributions(trx: Kysely<DB>, app: App, changes: readonly Change[]): Promise<void> {
  const labelled = changes.flatMap(({ before, after: { profile_id, attribution } }) => {
    const { attribution_key, attribution_user_id } = before?.attribution ?? {};
    const isSame =
      attribution_key === attribution?.attribution_key && attribution_user_id === attribution?.attribution_user_id;
    return attribution && !isSame ? [{ profile_id, ...attribution, is_labelled: before === undefined }] : [];
  });
  if (labelled.length === 0) return;
  const column = (name: keyof (typeof labelled)[number]) => labelled.map((one) => one[name]);
  await sql`
    with given as (
      select ${app.app_id}::uuid as app_id, given.*
      from unnest(${column('profile_id')}::uuid[], ${column('attribution_key')}::integer[],
        ${column('attribution_user_id')}::text[], ${column('is_labelled')}::boolean[])
        as given (profile_id, attribution_key, attribution_user_id, is_labelled)
    ), written as (
      ${recordAttributions(sql`given`, { replaces: app.attribution_policy === 'last' })}
    ), relabelled as (
      -- The install of a new profile is written with its label, so it is not queued.
      select ${app.app_key}::integer as app_key, queue_no, profile_id, written.attribution_key, earlier_key
      from written join given using (profile_id)
      where not is_labelled and earlier_key is distinct from written.attribution_key
    )
    ${queueLabels(sql`relabelled`)}`.execute(trx);
}

/** Writes changed profiles with their identities, attributions and installs. */
export async function writeProfiles(trx: Kysely<DB>, app: App, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  const fresh = changes.filter(({ before }) => !before).map(({ after }) => after);
  const updated = changes.filter(({ before }) => before).map(({ after }) => after);
  if (fresh.length > 0) await insertProfiles(trx, app, fresh);
  if (updated.length > 0) await updateProfiles(trx, app, updated);
  await writeNames(trx, app, changes);
  await writeAttributions(trx, app, changes);
  const ids = changes.map(({ after }) => after.profile_id);
  await writeInstalls(planningEachTime(trx), app, sql`(select unnest(${ids}::uuid[]) as profile_id)`);
}
