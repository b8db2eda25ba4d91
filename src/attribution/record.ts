// The parts of statements that record attributions, of posts as of imports.
import { type RawBuilder, sql } from 'kysely';

/**
 * Writes the records of a relation (`app_id, profile_id, attribution_key, attribution_user_id`, a profile once) and gives those it wrote:
 * their profile, its key, and as `earlier_key` that of the record before, if any. A record replaces the profile's previous one as a whole, or is dropped if
 * `replaces` is false; the same record again changes nothing.
 */
export function recordAttributions(
  given: RawBuilder<unknown>,
  { replaces }: { replaces: boolean },
): RawBuilder<unknown> {
  return sql`
    insert into profile_attribution as r (app_id, profile_id, attribution_key, attribution_user_id, recorded_at)
    select app_id, profile_id, attribution_key, attribution_user_id, now() from ${given}
    order by app_id, profile_id
    on conflict (app_id, profile_id) do update set
      attribution_key = excluded.attribution_key,
      attribution_user_id = excluded.attribution_user_id,
      recorded_at = excluded.recorded_at,
      superseded_keys = (array_prepend(r.attribution_key, r.superseded_keys))[1:10],
      superseded_user_ids = (array_prepend(r.attribution_user_id, r.superseded_user_ids))[1:10],
      superseded_at = (array_prepend(r.recorded_at, r.superseded_at))[1:10]
    where ${replaces} and (r.attribution_key, r.attribution_user_id)
      is distinct from (excluded.attribution_key, excluded.attribution_user_id)
    returning app_id, profile_id, attribution_key, superseded_keys[1] as earlier_key`;
}

/**
 * Marks profiles whose record the statement gave another label (`app_key, profile_id, attribution_key, earlier_key`). Facts of those that
 * are marked already stay with the label that they have.
 */
export function markLabels(relabelled: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    insert into label_pending (app_key, profile_id, attribution_key, earlier_key)
    select app_key, profile_id, attribution_key, coalesce(earlier_key, 0) from ${relabelled}
    order by app_key, profile_id
    on conflict (app_key, profile_id) do update set attribution_key = excluded.attribution_key`;
}
