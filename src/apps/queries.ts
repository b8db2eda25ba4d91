// Statements about apps and what they configure.
import { type Insertable, type Kysely, type Selectable, sql, type Updateable } from 'kysely';
import type { AccessLevel, ApiKey, App, DB, Product, StoreSetting } from '../db/types.ts';

export async function listKeysByPrefix(db: Kysely<DB>, prefixes: readonly string[]) {
  return db
    .selectFrom('api_key')
    .innerJoin('app', 'app.app_id', 'api_key.app_id')
    .where(sql<boolean>`api_key.prefix = any(${prefixes}::text[])`)
    .where('api_key.revoked_at', 'is', null)
    .select(['api_key.prefix', 'api_key.key_id', 'api_key.kind', 'api_key.scope', 'api_key.sha256'])
    .select(['app.app_id', 'app.app_key', 'app.timezone', 'app.profile_shape', 'app.attribution_policy', 'app.sharing'])
    .execute();
}

export async function insertApp(db: Kysely<DB>, values: Insertable<App>): Promise<Selectable<App>> {
  return db.insertInto('app').values(values).returningAll().executeTakeFirstOrThrow();
}

/** Sets the values given. Apps are never removed. */
export async function updateApp(
  db: Kysely<DB>,
  appId: string,
  values: Pick<Updateable<App>, 'name' | 'profile_shape' | 'attribution_policy' | 'sharing'>,
): Promise<Selectable<App>> {
  return db.updateTable('app').set(values).where('app_id', '=', appId).returningAll().executeTakeFirstOrThrow();
}

export async function findApp(db: Kysely<DB>, appId: string): Promise<Selectable<App> | undefined> {
  return db.selectFrom('app').selectAll().where('app_id', '=', appId).executeTakeFirst();
}

export async function listAllApps(db: Kysely<DB>): Promise<Selectable<App>[]> {
  return db.selectFrom('app').selectAll().orderBy('app_key').execute();
}

export async function insertKey(db: Kysely<DB>, values: Insertable<ApiKey>): Promise<{ key_id: string }> {
  return db.insertInto('api_key').values(values).returning('key_id').executeTakeFirstOrThrow();
}

export async function listKeysOf(db: Kysely<DB>, appId: string): Promise<Omit<Selectable<ApiKey>, 'sha256'>[]> {
  return db
    .selectFrom('api_key')
    .select(['key_id', 'app_id', 'kind', 'scope', 'prefix', 'created_at', 'revoked_at'])
    .where('app_id', '=', appId)
    .orderBy('created_at')
    .orderBy('key_id')
    .execute();
}

/** Marks the key as revoked, keeping the time of the first revocation; undefined if there is no such key. */
export async function markKeyRevoked(
  db: Kysely<DB>,
  keyId: string,
): Promise<{ revoked_at: string | null } | undefined> {
  return db
    .updateTable('api_key')
    .set({ revoked_at: sql`coalesce(revoked_at, now())` })
    .where('key_id', '=', keyId)
    .returning('revoked_at')
    .executeTakeFirst();
}

type Level = Pick<Selectable<AccessLevel>, 'app_id' | 'access_level_id'>;

export async function insertAccessLevel(db: Kysely<DB>, values: Insertable<AccessLevel>): Promise<void> {
  await db
    .insertInto('access_level')
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function listAccessLevelsOf(db: Kysely<DB>, appId: string): Promise<Selectable<AccessLevel>[]> {
  return db.selectFrom('access_level').selectAll().where('app_id', '=', appId).orderBy('access_level_id').execute();
}

/** Waits until no grant is under way, and keeps others from starting until the transaction ends. */
export async function lockGrants(trx: Kysely<DB>): Promise<void> {
  await sql`lock table access_grant in share row exclusive mode`.execute(trx);
}

/** Returns whether any profile was ever granted the level, and whether a product opens it. */
export async function readUseOfLevel(db: Kysely<DB>, { app_id, access_level_id }: Level) {
  const { rows } = await sql<{ is_granted: boolean; is_opened: boolean }>`
    select exists (
        select from access_grant where app_id = ${app_id} and access_level_id = ${access_level_id}) as is_granted,
      exists (select from product where app_id = ${app_id} and access_level_id = ${access_level_id}) as is_opened`.execute(
    db,
  );
  return rows[0]!;
}

/** Returns whether there was one. */
export async function deleteAccessLevel(db: Kysely<DB>, { app_id, access_level_id }: Level): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('access_level')
    .where('app_id', '=', app_id)
    .where('access_level_id', '=', access_level_id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

export async function upsertProducts(db: Kysely<DB>, products: readonly Insertable<Product>[]): Promise<void> {
  await db
    .insertInto('product')
    .values([...products])
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'store', 'store_product_id']).doUpdateSet((eb) => ({
        duration: eb.ref('excluded.duration'),
        access_level_id: eb.ref('excluded.access_level_id'),
        is_consumable: eb.ref('excluded.is_consumable'),
      })),
    )
    .execute();
}

/** Returns whether there was one. */
export async function deleteProduct(
  db: Kysely<DB>,
  { app_id, store, store_product_id }: Pick<Selectable<Product>, 'app_id' | 'store' | 'store_product_id'>,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('product')
    .where('app_id', '=', app_id)
    .where('store', '=', store)
    .where('store_product_id', '=', store_product_id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

export async function listProductsOf(db: Kysely<DB>, appId: string): Promise<Selectable<Product>[]> {
  return db
    .selectFrom('product')
    .selectAll()
    .where('app_id', '=', appId)
    .orderBy('store')
    .orderBy('store_product_id')
    .execute();
}

/** Sets the values given and keeps the rest. */
export async function upsertStoreSetting(db: Kysely<DB>, values: Insertable<StoreSetting>): Promise<void> {
  const { app_id, store, ...settings } = values;
  await db
    .insertInto('store_setting')
    .values(values)
    .onConflict((conflict) => conflict.columns(['app_id', 'store']).doUpdateSet({ store, ...settings }))
    .execute();
}

/** Lists the settings of an app's stores, ordered by name. */
export async function listStoreSettingsOf(db: Kysely<DB>, appId: string): Promise<Selectable<StoreSetting>[]> {
  return db.selectFrom('store_setting').selectAll().where('app_id', '=', appId).orderBy('store').execute();
}
