// The attribution that the facts of a deleted profile keep: its record is about to go, so that nothing could settle it later.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';

/** Brings the current label to the facts of a profile that the caller has locked against attributions. */
export async function settleLabel(trx: Kysely<DB>, { app_id, app_key }: App, profileId: string): Promise<void> {
  await sql`
    with pending as (
      select attribution_key from profile_attribution
      where app_id = ${app_id} and profile_id = ${profileId} and relabel_pending
    ), install as (
      update fact_install f set attribution_key = pending.attribution_key from pending
      where f.app_key = ${app_key} and f.profile_id = ${profileId}
    )
    update fact_transaction f set attribution_key = pending.attribution_key from pending
    where f.app_key = ${app_key} and f.profile_id = ${profileId}
      and f.attribution_key <> pending.attribution_key`.execute(trx);
}
