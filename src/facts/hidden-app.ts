// Makes the planner look up rows of an app by their keys, whatever the statistics know about the app.
import { type RawBuilder, sql } from 'kysely';
import type { App } from '../deps.ts';

/**
 * Returns a relation of one row, `app` (app_id, app_key), whose values the planner does not see (`offset 0`). If it saw
 * those of an app too small, next to the others, to appear in the statistics, it would expect the app to have a single
 * row, and read all the app's rows again for each row to look up. Write the look-up as a `lateral` subquery with
 * `offset 0`, or the planner turns it all into one join.
 */
export function hiddenApp({ app_id, app_key }: Pick<App, 'app_id' | 'app_key'>): RawBuilder<unknown> {
  return sql`(select ${app_id}::uuid as app_id, ${app_key}::integer as app_key offset 0) app`;
}
