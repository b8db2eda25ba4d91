// Writes the rows of the dimension tables that facts refer to.
import { type RawBuilder, sql } from 'kysely';
import type { Execute } from '../db/prepared.ts';

/** A query in parentheses with the DIMENSIONS of transactions. */
export type DimensionValues = RawBuilder<unknown>;

/** The columns from which the dimension rows of a transaction are made, in one group per row. */
export const DIMENSIONS = [
  ['store'],
  ['store_product_id'],
  ['offer_category', 'offer_type', 'offer_id'],
  ['paywall_id', 'audience_id', 'placement_id'],
] as const;

/**
 * Returns a country as dim_country has it: in lower case by the rules of the C collation, whatever the database's own
 * is. The result has the database's collation again, because the index serves look-ups under no other.
 */
export function countryOf(column: string): RawBuilder<unknown> {
  return sql`lower(${sql.ref(column)} collate "C") collate "default"`;
}

/** Writes the dimension rows that these purchases need, in a fixed order so that two writers do not deadlock. */
export async function ensureDimensions(execute: Execute, values: DimensionValues): Promise<void> {
  await execute(sql`
    with bought as ${values}, stores as (
      insert into dim_store (store) select distinct store from bought
      where store not in (select store from dim_store) order by 1 on conflict do nothing
    ), products as (
      insert into dim_product (store_product_id) select distinct store_product_id from bought b
      where not exists (select from dim_product d where d.store_product_id = b.store_product_id)
      order by 1 on conflict do nothing
    ), offers as (
      insert into dim_offer (tuple_hash, offer_category, offer_type, offer_id)
      select distinct tuple_hash(offer_category, offer_type, offer_id), offer_category, offer_type, offer_id from bought b
      where not exists (select from dim_offer d where d.tuple_hash = tuple_hash(b.offer_category, b.offer_type, b.offer_id))
      order by 1 on conflict do nothing
    )
    insert into dim_placement (tuple_hash, paywall_id, audience_id, placement_id)
    select distinct tuple_hash(paywall_id, audience_id, placement_id), paywall_id, audience_id, placement_id from bought b
    where not exists (
      select from dim_placement d where d.tuple_hash = tuple_hash(b.paywall_id, b.audience_id, b.placement_id))
    order by 1 on conflict do nothing`);
}
