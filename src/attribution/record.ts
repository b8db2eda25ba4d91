// The parts of statements that record attributions, both posted and imported.
import { type RawBuilder, sql } from 'kysely';

/**
 * Writes the records of a relation with the columns `app_id, profile_id, attribution_key, attribution_user_id,
 * is_labelled`, one row per profile; `is_labelled` means that the profile's facts are written with the label and need
 * not wait for it. Returns, for each record written, the profile, its key, the key of the record before as
 * `earlier_key`, if any, and the `queue_no` under which the profile is queued. A record replaces the profile's previous
 * one as a whole, or is dropped if `replaces` is false; the same record again changes nothing.
 */
export function recordAttributions(
  given: RawBuilder<unknown>,
  { replaces }: { replaces: boolean },
): RawBuilder<unknown> {
  return sql`
    insert into profile_attribution as r (app_id, profile_id, attribution_key, attribution_user_id, recorded_at, queue_no)
    select app_id, profile_id, attribution_key, attribution_user_id, clock_timestamp(),
      case when not is_labelled then nextval('label_pending_queue_no_seq') end
    from ${given}
    order by app_id, profile_id
    on conflict (app_id, profile_id) do update set
      attribution_key = excluded.attribution_key,
      attribution_user_id = excluded.attribution_user_id,
      -- Taken under the lock of the record, so it is later than that of the previous record.
      recorded_at = clock_timestamp(),
      queue_no = case when r.attribution_key = excluded.attribution_key then r.queue_no else coalesce(r.queue_no, excluded.queue_no) end,
      superseded_keys = (array_prepend(r.attribution_key, r.superseded_keys))[1:10],
      superseded_user_ids = (array_prepend(r.attribution_user_id, r.superseded_user_ids))[1:10],
      superseded_at = (array_prepend(r.recorded_at, r.superseded_at))[1:10]
    where ${replaces} and (r.attribution_key, r.attribution_user_id)
      is distinct from (excluded.attribution_key, excluded.attribution_user_id)
    returning app_id, profile_id, attribution_key, superseded_keys[1] as earlier_key, queue_no`;
}

/**
 * Queues the profiles whose record got another label from the statement (`app_key, queue_no, profile_id,
 * attribution_key, earlier_key`). A profile that is already queued keeps its `earlier_key`, the label that its facts
 * still have.
 */
export function queueLabels(relabelled: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    insert into label_pending (app_key, queue_no, profile_id, attribution_key, earlier_key)
    select app_key, queue_no, profile_id, attribution_key, coalesce(earlier_key, 0) from ${relabelled}
    on conflict (app_key, queue_no) do update set attribution_key = excluded.attribution_key`;
}
