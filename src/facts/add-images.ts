// Adds images of facts to the totals, and queues them to be appended to the columns. This part of a statement is the
// only one that writes to the totals, so columns and queued changes together always match them.
import { type RawBuilder, sql } from 'kysely';
import {
  homeCode,
  LABEL_HOMES,
  MONTHLY_HOMES,
  TOTAL_HOMES,
  TOTAL_MOMENTS,
  TOTAL_SUMS,
  type TotalHome,
} from './totals-schema.ts';

const names = Object.keys(TOTAL_SUMS);
const SUMS = sql.join(Object.entries(TOTAL_SUMS).map(([name, sum]) => sql`sum(${sql.raw(sum)}) as ${sql.ref(name)}`));
const SUMS_OF_TOTALS = sql.join(names.map((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`));
const NAMES = sql.join(names.map((name) => sql.ref(name)));
const IS_CHANGED = sql.join(
  names.map((name) => sql`${sql.ref(name)} <> 0`),
  sql` or `,
);
const ADDITIONS = sql.join(
  names.map((name) => sql`${sql.ref(name)} = t.${sql.ref(name)} + ${sql.ref(`excluded.${name}`)}`),
);
const MOMENTS = sql.join(TOTAL_MOMENTS.map(([, day], code) => sql`(${sql.lit(code)}::smallint, i.${sql.ref(day)})`));

/** Makes subqueries that add the relation `image` (rows of a sign and a fact) to the totals split by these homes. */
function addingTo(homes: readonly TotalHome[], otherGroupings: readonly RawBuilder<unknown>[]) {
  const columns = homes.map((name) => sql.ref(name));
  /** Each home is totalled by day, or by month only. */
  const groupings = homes.map(
    (name) => sql`(moment, ${sql.ref(MONTHLY_HOMES.includes(name) ? 'month' : 'day')}, ${sql.ref(name)})`,
  );
  const codes = homes.map((name) => sql`when grouping(${sql.ref(name)}) = 0 then ${sql.lit(homeCode(name))}`);
  return (appKey: number) => sql`
    changed_column as (
      insert into fact_column_change
      select image.* from image join fact_column_month m on m.app_key = image.app_key and m.month = first_of_month(purchased_day)
      returning app_key, first_of_month(purchased_day) as month
    ), counted as (
      update fact_column_month m set changes = m.changes + c.count
      from (select app_key, month, count(*) from changed_column group by app_key, month) c
      where m.app_key = c.app_key and m.month = c.month
    ), summed as materialized (
      select grouping(day) as grain, moment, coalesce(day, month) as day,
        case ${sql.join(codes, sql` `)} else 0 end as home, coalesce(${sql.join(columns)}, 0) as key, ${SUMS}
      from (
        select i.*, a.status_key, a.channel_key, a.campaign_key, a.source_key, m.moment, m.day,
          first_of_month(m.day) as month
        from image i join dim_attribution a using (attribution_key)
        cross join lateral (values ${MOMENTS}) as m (moment, day)
        where m.day is not null
      ) f
      group by grouping sets (${sql.join([...otherGroupings, ...groupings])})
    ), by_grain as (
      select * from summed
      union all
      select 1, moment, first_of_month(day), home, key, ${SUMS_OF_TOTALS}
      from summed where grain = 0 group by moment, first_of_month(day), home, key
    ), added as (
      insert into fact_total as t (app_key, grain, home, moment, day, key, ${NAMES})
      select ${appKey}, grain, home, moment, day, key, ${NAMES} from by_grain
      where ${IS_CHANGED}
      order by grain, home, moment, day, key
      on conflict (app_key, grain, home, moment, day, key) do update set ${ADDITIONS}
    )`;
}

export const addingImages = addingTo(TOTAL_HOMES, [sql`(moment, day)`]);

/** The same for images of moved facts, in pairs that differ only in their label: all other sums cancel out. */
export const addingMoves = addingTo(LABEL_HOMES, []);
