// Helpers shared by the tests of attribution: the request, and the record as it is stored.
import { sql } from 'kysely';
import type { CallOptions, ServiceResponse, TestService } from '../setup/service.ts';

export const ATTRIBUTION = '/api/v2/web-api/attribution/';

export function post(service: TestService, body: unknown, options: CallOptions = {}): Promise<ServiceResponse> {
  return service.call('POST', ATTRIBUTION, { key: service.publicKey, body, ...options });
}

export interface StoredRecord {
  status: string;
  attribution_user_id: string | null;
  channel: string | null;
  campaign: string | null;
  ad_group: string | null;
  ad_set: string | null;
  creative: string | null;
  source: string;
  recorded_at: string;
  superseded: { status: string; attribution_user_id: string | null; channel: string | null; recorded_at: string }[];
}

/** Reads the profile's record and those that it superseded, newest first. */
export async function readRecord({ database }: TestService, profileId: string): Promise<StoredRecord | undefined> {
  const { rows } = await sql<StoredRecord>`
    select d.status, r.attribution_user_id, d.channel, d.campaign, d.ad_group, d.ad_set, d.creative, d.source, r.recorded_at::text,
      (select coalesce(json_agg(json_build_object('status', o.status, 'attribution_user_id', s.user_id,
          'channel', o.channel, 'recorded_at', s.at::text) order by s.position), '[]')
       from unnest(r.superseded_keys, r.superseded_user_ids, r.superseded_at)
         with ordinality as s (key, user_id, at, position)
       join dim_attribution o on o.attribution_key = s.key) as superseded
    from profile_attribution r join dim_attribution d using (attribution_key)
    where r.profile_id = ${profileId}`.execute(database.db);
  return rows[0];
}

export async function countLabels({ database }: TestService): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int from dim_attribution`.execute(database.db);
  return rows[0]?.count ?? 0;
}
