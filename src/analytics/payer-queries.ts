// Counts distinct payers fact by fact, in the statement of a chart.
import { sql } from 'kysely';
import { payerRows } from './entry-rows.ts';
import { type SpanSource, type Sql, segmentOfKey } from './sources.ts';

export interface PayerQueries {
  ctes: Sql[];
  /** Selects `segment, per` of the main range. */
  bySegment: Sql;
  /** `totals` and `series` select `place, segment, side, span, bucket, sums`; `series` reads the relation `ranked`. */
  totals: Sql;
  series: Sql;
}

/** The place and segment of a row that is joined with `ranked`. */
export const SERIES = sql`case when kept then 'segment' else 'other' end as place, case when kept then segment else '' end as segment`;

export function queryPayers(spans: readonly SpanSource[]): PayerQueries {
  const { value, join } = segmentOfKey(spans[0]!.query);
  const selects = spans.map(
    (source) => sql`select ${sql.lit(source.index)} as span, p.* from (${payerRows(source)}) p`,
  );
  return {
    ctes: [
      sql`payer as materialized (
        select distinct span, bucket, ${value} as segment, profile_id
        from (${sql.join(selects, sql` union all `)}) e ${join})`,
    ],
    bySegment: sql`select segment, count(distinct profile_id) as per from payer where span = 0 group by segment`,
    totals: sql`select 'total', '', 'per', span, bucket, array[count(distinct profile_id)]::text[]
      from payer group by grouping sets ((span, bucket), (span))`,
    series: sql`select place, segment, 'per', span, bucket, array[count(distinct profile_id)]::text[]
      from (select ${SERIES}, span, bucket, profile_id from payer join ranked using (segment)) p
      group by grouping sets ((place, segment, span, bucket), (place, segment, span))`,
  };
}
