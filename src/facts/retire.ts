// What must be written when facts change, so that the totals stay right: images, which are copies of the facts as the
// totals contain them (docs/decisions/0016).
import { type RawBuilder, sql } from 'kysely';

/**
 * Subqueries for a statement that is about to write the facts of the relation `changed` (app_key, profile_id,
 * purchase_no). They queue these facts to be totalled in their new state, and keep what the totals contain of them as
 * images, to be taken off.
 */
export const RETIRE_CHANGED = sql`
  awaiting as (
    insert into fact_pending as w (app_key, profile_id, purchase_no)
    select app_key, profile_id, purchase_no from changed order by 1, 2, 3
    on conflict (app_key, profile_id, purchase_no) do update set touched = w.touched + 1
    returning app_key, profile_id, purchase_no, touched = 0 as is_new
  ), retired as (
    -- The totals contain the old state of a fact that was not pending.
    insert into fact_retired
    select old.* from fact_transaction old join awaiting using (app_key, profile_id, purchase_no) where is_new
  )`;

/** Returns the condition that the fact `f` is pending, or was moved to another label since it was totalled. */
export function isIn(table: 'fact_pending' | 'fact_moved'): RawBuilder<unknown> {
  return sql`exists (select from ${sql.table(table)} w
    where w.app_key = f.app_key and w.profile_id = f.profile_id and w.purchase_no = f.purchase_no)`;
}
