// Statements that record attributions, a whole group at a time.
import { type Kysely, type NotNull, sql } from 'kysely';
import { inTransaction } from '../db/client.ts';
import { executePrepared } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import { TOTALLED_ATTRIBUTES } from '../facts/totals-schema.ts';
import { raiseVersions } from '../facts/version.ts';
import type { Label } from './label.ts';
import { queueLabels, recordAttributions } from './record.ts';

/** By what a post names its profile; both given must name the same one. */
export interface Naming {
  app_id: string;
  customer_user_id: string | null;
  profile_id: string | null;
}

export interface AttributionRow extends Naming {
  /** Null where the profile was not found before: nothing is written. */
  attribution_key: number | null;
  attribution_user_id: string | null;
}

/** Labels as a relation `label`, with their hash and their place. */
function labelRelation(labels: readonly Label[]) {
  const column = (name: keyof Label) => labels.map((label) => label[name]);
  return sql`(
    select *, tuple_hash(status, channel, campaign, ad_group, ad_set, creative, source) as tuple_hash
    from unnest(${column('status')}::text[], ${column('channel')}::text[], ${column('campaign')}::text[],
      ${column('ad_group')}::text[], ${column('ad_set')}::text[], ${column('creative')}::text[],
      ${column('source')}::text[])
      with ordinality as given (status, channel, campaign, ad_group, ad_set, creative, source, position))`;
}

/** The keys of these labels, in the same order; null for those that are not there. */
export async function findLabels(db: Kysely<DB>, labels: readonly Label[]): Promise<(number | null)[]> {
  const statement = sql<{ attribution_key: number | null }>`
    select attribution_key from ${labelRelation(labels)} label left join dim_attribution using (tuple_hash) order by position`;
  return (await executePrepared(db, 'find_labels', statement)).map(({ attribution_key }) => attribution_key);
}

/** The newest labels with their keys, at most so many. */
export async function listLabels(db: Kysely<DB>, most: number): Promise<(Label & { attribution_key: number })[]> {
  return db
    .selectFrom('dim_attribution')
    .select(['attribution_key', 'status', 'channel', 'campaign', 'ad_group', 'ad_set', 'creative', 'source'])
    .where('status', 'is not', null)
    .where('source', 'is not', null)
    .$narrowType<{ status: NotNull; source: NotNull }>()
    .orderBy('attribution_key', 'desc')
    .limit(most)
    .execute();
}

/** Gives new labels the rows that stand for their values: one that does already, or the first of the new ones. It stays so. */
async function classifyLabels(trx: Kysely<DB>, keys: readonly number[]): Promise<void> {
  for (const name of TOTALLED_ATTRIBUTES) {
    const [value, key] = [sql.ref(name), sql.ref(`${name}_key`)];
    await sql`
      with made as materialized (
        select attribution_key, coalesce(${value}, '') as value, min(attribution_key) over (partition by coalesce(${value}, '')) as first
        from dim_attribution where attribution_key = any(${keys}::integer[]) and ${key} = 0
      )
      update dim_attribution d set ${key} = coalesce((
        select min(known.attribution_key) from dim_attribution known
        where ${sql.ref(`known.${name}_key`)} = known.attribution_key and coalesce(${sql.ref(`known.${name}`)}, '') = made.value
      ), made.first)
      from made where d.attribution_key = made.attribution_key`.execute(trx);
  }
}

/** The keys of these distinct labels, in the same order; those unknown are inserted. */
export async function ensureLabels(db: Kysely<DB>, labels: readonly Label[]): Promise<number[]> {
  return inTransaction(db, async (trx) => {
    const found = await insertLabels(trx, labels);
    const made = found.flatMap(({ attribution_key, is_new }) => (is_new ? [attribution_key] : []));
    if (made.length > 0) await classifyLabels(trx, made);
    return found.map(({ attribution_key }) => attribution_key);
  });
}

/** In the order of their hashes, so that two writers do not deadlock. */
async function insertLabels(
  trx: Kysely<DB>,
  labels: readonly Label[],
): Promise<{ attribution_key: number; is_new: boolean }[]> {
  const { rows } = await sql<{ attribution_key: number; is_new: boolean }>`
    with label as ${labelRelation(labels)}, inserted as (
      insert into dim_attribution (tuple_hash, status, channel, campaign, ad_group, ad_set, creative, source)
      select tuple_hash, status, channel, campaign, ad_group, ad_set, creative, source
      from label where not exists (select from dim_attribution d where d.tuple_hash = label.tuple_hash)
      order by tuple_hash
      -- The update does nothing but make the row visible when another process inserted it just now.
      on conflict (tuple_hash) do update set tuple_hash = excluded.tuple_hash
      returning tuple_hash, attribution_key
    )
    select coalesce(inserted.attribution_key, known.attribution_key) as attribution_key,
      inserted.attribution_key is not null as is_new
    from label
    left join inserted using (tuple_hash)
    left join dim_attribution known using (tuple_hash)
    order by position`.execute(trx);
  return rows;
}

/** Whether each names a living profile. */
export async function findProfiles(db: Kysely<DB>, namings: readonly Naming[]): Promise<boolean[]> {
  const column = (name: keyof Naming) => namings.map((naming) => naming[name]);
  const { rows } = await sql<{ is_found: boolean }>`
    select profile.profile_id is not null as is_found
    from unnest(${column('app_id')}::uuid[], ${column('customer_user_id')}::text[], ${column('profile_id')}::uuid[])
      with ordinality as given (app_id, customer_user_id, given_id, position)
    left join profile_identity identity using (app_id, customer_user_id)
    left join profile on profile.app_id = given.app_id
      and profile.profile_id = coalesce(identity.profile_id, given_id)
      and profile.deleted_at is null
      and case when given.customer_user_id is null then given_id is not null
        else identity.profile_id is not null and (given_id is null or given_id = identity.profile_id) end
    order by position`.execute(db);
  return rows.map(({ is_found }) => is_found);
}

type Outcome = 'written' | 'no_profile' | 'again';

/** Writes the first row of every profile; further rows of the same profile answer `again`. One statement, one commit. */
async function writeOncePerProfile(
  db: Kysely<DB>,
  rows: readonly AttributionRow[],
  replaces: boolean,
): Promise<Outcome[]> {
  const column = <K extends keyof AttributionRow>(name: K) => rows.map((row) => row[name]);
  const statement = sql<{ position: number; is_written: boolean }>`
    with given as (
      select * from unnest(${column('app_id')}::uuid[], ${column('customer_user_id')}::text[],
        ${column('profile_id')}::uuid[], ${column('attribution_key')}::integer[], ${column('attribution_user_id')}::text[])
        with ordinality as given (app_id, customer_user_id, given_id, attribution_key, attribution_user_id, position)
      where attribution_key is not null
    ), by_id as (
      select given.*, profile_id from given join profile on (profile.app_id, profile_id) = (given.app_id, given_id)
      where given.customer_user_id is null and deleted_at is null
      for key share of profile
    ), by_name as (
      -- A deletion removes the identity, so its lock stands for that of the profile, which need not be read.
      select given.*, profile_id from given join profile_identity identity using (app_id, customer_user_id)
      where given_id is null or given_id = profile_id
      for key share of identity
    ), living as (
      select app_id, profile_id, attribution_key, attribution_user_id, position from by_id
      -- In this order of locks, like a deletion.
      union all select app_id, profile_id, attribution_key, attribution_user_id, position from by_name
    ), numbered as (
      select *, row_number() over (partition by app_id, profile_id order by position) as turn, false as is_labelled from living
    ), written as (
      ${recordAttributions(sql`numbered where turn = 1`, { replaces })}
    ), relabelled as (
      select app_key, queue_no, profile_id, attribution_key, earlier_key from written join app using (app_id)
      where earlier_key is distinct from attribution_key
    ), queued as (
      ${queueLabels(sql`relabelled`)}
    ), raised as (
      ${raiseVersions(sql`(select distinct app_key from relabelled)`)}
    )
    select position::integer, turn = 1 as is_written from numbered`;
  const outcomes: Outcome[] = rows.map(() => 'no_profile');
  for (const { position, is_written } of await executePrepared(db, 'write_attributions', statement)) {
    outcomes[position - 1] = is_written ? 'written' : 'again';
  }
  return outcomes;
}

/**
 * Records the attributions in the order given, also where several name one profile; whether each found its profile.
 * A record replaces the profile's previous one as a whole, or is dropped if `replaces` is false; the same record again
 * changes nothing.
 */
export async function writeAttributions(
  db: Kysely<DB>,
  rows: readonly AttributionRow[],
  replaces: boolean,
): Promise<boolean[]> {
  const outcomes = await writeOncePerProfile(db, rows, replaces);
  const found = outcomes.map((outcome) => outcome === 'written');
  if (!outcomes.includes('again')) return found;
  const waiting = outcomes.flatMap((outcome, index) => (outcome === 'again' ? [index] : []));
  const later = await writeAttributions(
    db,
    waiting.map((index) => rows[index] as AttributionRow),
    replaces,
  );
  for (const [position, index] of waiting.entries()) found[index] = later[position] === true;
  return found;
}
