// Writes the install facts of profiles, and copies a changed install to the facts of their transactions.
import { type RawBuilder, sql } from 'kysely';
import type { Execute } from '../db/prepared.ts';
import type { App } from '../deps.ts';
import { countryOf } from './dimensions.ts';
import { hiddenApp } from './hidden-app.ts';
import { zoneRelation } from './zone-relation.ts';

/** Writes the installs of the profiles in `ids`, a relation with a column profile_id. The caller holds their locks. */
export async function writeInstalls(execute: Execute, app: App, ids: RawBuilder<unknown>): Promise<void> {
  const profiles = sql`
    ${hiddenApp(app)} cross join ${ids} i
    cross join lateral (select * from profile where app_id = app.app_id and profile_id = i.profile_id offset 0) p`;
  const makeStores = sql`
    insert into dim_store (store)
    select distinct p.store from ${profiles}
    where p.store is not null and p.store not in (select store from dim_store)
    order by 1 on conflict do nothing`;
  const write = sql`
    with install as (
      select app.app_key, p.profile_id, p.installed_at, local_day(p.installed_at, z.changes_at, z.offsets_s) as installed_day,
        dim_country.country_key, dim_store.store_key, coalesce(a.attribution_key, 0) as attribution_key, old.fact as before
      from ${profiles}
      left join lateral (
        select attribution_key from profile_attribution
        where app_id = p.app_id and profile_id = p.profile_id offset 0) a on true
      left join lateral (
        select fact from fact_install fact where app_key = app.app_key and profile_id = p.profile_id offset 0) old on true
      cross join ${zoneRelation(app.timezone)} z
      join dim_country on dim_country.country = coalesce(${countryOf('p.country')}, '')
      join dim_store on dim_store.store = coalesce(p.store, '')
    ), differing as materialized (
      -- Inserts only these: every insert draws a profile_no, even on conflict, and charts count payers by pages of these numbers.
      select * from install
      where (before).app_key is null
        or ((before).installed_at, (before).country_key, (before).store_key) is distinct from (installed_at, country_key, store_key)
    ), written as (
      insert into fact_install (app_key, profile_id, installed_at, installed_day, country_key, store_key, attribution_key)
      select app_key, profile_id, installed_at, installed_day, country_key, store_key, attribution_key from differing
      on conflict (app_key, profile_id) do update set
        installed_at = excluded.installed_at,
        installed_day = excluded.installed_day,
        country_key = excluded.country_key,
        store_key = excluded.store_key
      returning *
    ), changed as (
      insert into install_column_change
      select -1, (before).* from differing where (before).app_key is not null union all select 1, * from written
    )
    update fact_transaction f set installed_at = written.installed_at, installed_day = written.installed_day
    from written
    where f.app_key = written.app_key and f.profile_id = written.profile_id
      and f.installed_at <> written.installed_at`;
  await Promise.all([execute(makeStores), execute(write)]);
}
