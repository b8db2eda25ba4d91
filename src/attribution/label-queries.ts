// Statements that find labels in dim_attribution and write new ones.
import { type Kysely, type NotNull, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import { inTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import { TOTALLED_ATTRIBUTES } from '../facts/totals-schema.ts';
import type { Label } from './label.ts';

/** Labels as a relation `label`, with their hashes and positions. */
function labelRelation(labels: readonly Label[]) {
  const column = (name: keyof Label) => labels.map((label) => label[name]);
  return sql`(
    select *, tuple_hash(status, channel, campaign, ad_group, ad_set, creative, source) as tuple_hash
    from unnest(${column('status')}::text[], ${column('channel')}::text[], ${column('campaign')}::text[],
      ${column('ad_group')}::text[], ${column('ad_set')}::text[], ${column('creative')}::text[],
      ${column('source')}::text[])
      with ordinality as given (status, channel, campaign, ad_group, ad_set, creative, source, position))`;
}

/** Returns the keys of these labels, in the same order; null for those that do not exist. */
export async function findLabels(db: Kysely<DB>, labels: readonly Label[]): Promise<(number | null)[]> {
  const statement = sql<{ attribution_key: number | null }>`
    select attribution_key from ${labelRelation(labels)} label left join dim_attribution using (tuple_hash) order by position`;
  return (await executePrepared(db, 'find_labels', statement)).map(({ attribution_key }) => attribution_key);
}

/** Returns the newest labels with their keys, at most this many. */
export async function listLabels(db: Kysely<DB>, limit: number): Promise<(Label & { attribution_key: number })[]> {
  return db
    .selectFrom('dim_attribution')
    .select(['attribution_key', 'status', 'channel', 'campaign', 'ad_group', 'ad_set', 'creative', 'source'])
    .where('status', 'is not', null)
    .where('source', 'is not', null)
    .$narrowType<{ status: NotNull; source: NotNull }>()
    .orderBy('attribution_key', 'desc')
    .limit(limit)
    .execute();
}

/**
 * Points each new label, per attribute, at the row that stands for its value: an existing one if there is one, else the
 * first of the new ones. This never changes afterwards.
 */
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

/** Returns the keys of these distinct labels, in the same order, inserting those that are unknown. */
export async function ensureLabels(db: Kysely<DB>, labels: readonly Label[]): Promise<number[]> {
  return inTransaction(db, async (trx) => {
    const found = await insertLabels(trx, labels);
    const made = found.flatMap(({ attribution_key, is_new }) => (is_new ? [attribution_key] : []));
    if (made.length > 0) await classifyLabels(trx, made);
    return found.map(({ attribution_key }) => attribution_key);
  });
}

/** Inserts in the order of the hashes, so that two writers do not deadlock. */
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
      -- The update changes nothing: it makes a row visible that another process has just inserted.
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
