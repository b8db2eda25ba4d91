// Products that records name but the app does not have. Their transactions are accepted, but open no access level.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../db/types.ts';
import type { App } from '../../deps.ts';
import type { ProductKey } from '../kind.ts';

function distinctProducts(records: readonly ProductKey[]): ProductKey[] {
  const products = new Map<string, ProductKey>();
  let before: ProductKey | undefined;
  for (const { store, store_product_id } of records) {
    // Records of a chain are adjacent.
    if (before?.store_product_id === store_product_id && before.store === store) continue;
    before = { store, store_product_id };
    products.set(JSON.stringify([store, store_product_id]), before);
  }
  return [...products.values()];
}

/** Returns the products in the order in which the records name them. */
export async function listUnconfigured(
  trx: Kysely<DB>,
  app: App,
  records: readonly ProductKey[],
): Promise<ProductKey[]> {
  const named = distinctProducts(records);
  const { rows } = await sql<ProductKey>`
    select named.store, named.store_product_id
    from unnest(${named.map(({ store }) => store)}::text[], ${named.map((one) => one.store_product_id)}::text[])
      with ordinality as named (store, store_product_id, place)
    where not exists (
      select from product
      where app_id = ${app.app_id} and product.store = named.store and product.store_product_id = named.store_product_id)
    order by place`.execute(trx);
  return rows;
}
