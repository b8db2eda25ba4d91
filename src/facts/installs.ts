// Writes the install facts of profiles, and carries a changed install to the facts of their transactions.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import { zoneRelation } from './zone-relation.ts';

/** Writes the installs of the profiles in `ids`, a relation with a column profile_id. The caller holds their locks. */
export async function writeInstalls(trx: Kysely<DB>, app: App, ids: RawBuilder<unknown>): Promise<void> {
  await sql`
    insert into dim_store (store)
    select distinct p.store from ${ids} i join profile p using (profile_id)
    where p.app_id = ${app.app_id} and p.store is not null and p.store not in (select store from dim_store)
    order by 1 on conflict do nothing`.execute(trx);
  await sql`
    with install as (
      select p.profile_id, p.installed_at, local_day(p.installed_at, z.changes_at, z.offsets_s) as installed_day,
        dim_country.country_key, dim_store.store_key, coalesce(a.attribution_key, 0) as attribution_key
      from ${ids} i join profile p using (profile_id)
      left join profile_attribution a using (app_id, profile_id)
      cross join ${zoneRelation(app.timezone)} z
      join dim_country on dim_country.country = coalesce(lower(p.country collate "C"), '')
      join dim_store on dim_store.store = coalesce(p.store, '')
      where p.app_id = ${app.app_id}
    ), before as materialized (
      select f.* from install join fact_install f on f.app_key = ${app.app_key} and f.profile_id = install.profile_id
    ), written as (
      insert into fact_install as old
        (app_key, profile_id, installed_at, installed_day, country_key, store_key, attribution_key)
      select ${app.app_key}, profile_id, installed_at, installed_day, country_key, store_key, attribution_key from install
      on conflict (app_key, profile_id) do update set
        installed_at = excluded.installed_at,
        installed_day = excluded.installed_day,
        country_key = excluded.country_key,
        store_key = excluded.store_key
      where (old.installed_at, old.country_key, old.store_key)
        is distinct from (excluded.installed_at, excluded.country_key, excluded.store_key)
      returning *
    ), changed as (
      insert into install_column_change
      select -1, before.* from before join written using (app_key, profile_id) union all select 1, * from written
    )
    update fact_transaction f set installed_at = written.installed_at, installed_day = written.installed_day
    from written
    where f.app_key = ${app.app_key} and f.profile_id = written.profile_id
      and f.installed_at <> written.installed_at`.execute(trx);
}
