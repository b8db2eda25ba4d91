// Looking up rows of an app by their keys, whatever statistics know of the app.
import { type RawBuilder, sql } from 'kysely';
import type { App } from '../deps.ts';

/**
 * A relation of one row, `app` (app_id, app_key), whose values the planner does not see (`offset 0`). Where they are in sight and statistics
 * know nothing of an app that is small beside another one, it takes all its rows for a single one, and reads them for every row that it is to
 * look up. What is looked up is a `lateral` subquery with `offset 0`: the planner would make one join of it.
 */
export function hiddenApp({ app_id, app_key }: Pick<App, 'app_id' | 'app_key'>): RawBuilder<unknown> {
  return sql`(select ${app_id}::uuid as app_id, ${app_key}::integer as app_key offset 0) app`;
}
