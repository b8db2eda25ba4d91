// The distinct payers in the statement of a chart: counted there fact by fact, or before from columns.
import { sql } from 'kysely';
import type { PayerRow } from './payer-counts.ts';
import { payerRows } from './rows.ts';
import { type Source, type Sql, segmentValues } from './sources.ts';

export interface PayerQueries {
  ctes: Sql[];
  /** Selects `segment, per` of the asked range. */
  bySegment: Sql;
  /** Select `place, segment, side, span, bucket, sums`, the latter of the relation `ranked`. */
  totals: Sql;
  series: Sql;
}

/** Place and segment of a row that was joined with `ranked`. */
export const SERIES = sql`case when kept then 'segment' else 'other' end as place, case when kept then segment else '' end as segment`;

export function fromFacts(parts: readonly (Source & { index: number })[]): PayerQueries {
  const segmentation = parts[0]!.query.segmentation;
  const value = segmentation ? sql`d.value` : sql`null::text`;
  const join = segmentation ? sql`left join ${segmentValues(segmentation)} on d.key = e.key` : sql``;
  const selects = parts.map((part) => sql`select ${sql.lit(part.index)} as span, p.* from (${payerRows(part)}) p`);
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

/** Of a span: its payers, by the values of the segments. */
export interface CountedPayers {
  index: number;
  segments: readonly string[];
  rows: readonly PayerRow[];
}

export function fromCounts(counted: readonly CountedPayers[]): PayerQueries {
  const rows = counted.flatMap(({ index, segments, rows }) =>
    rows.map(({ segment, ...row }) => ({
      ...row,
      span: index,
      place: segment === null ? 'total' : segment === 'other' ? 'other' : 'segment',
      segment: typeof segment === 'number' ? segments[segment]! : '',
    })),
  );
  const ranked = rows.filter(({ span, bucket, place }) => span === 0 && bucket === null && place === 'segment');
  return {
    ctes: [
      sql`payer as materialized (
        select * from unnest(${rows.map(({ span }) => span)}::integer[], ${rows.map(({ bucket }) => bucket)}::integer[],
          ${rows.map(({ place }) => place)}::text[], ${rows.map(({ segment }) => segment)}::text[],
          ${rows.map(({ payers }) => payers)}::bigint[]) as p (span, bucket, place, segment, per))`,
    ],
    // Not selected from all rows: the planner would take the few thousands that are left for one.
    bySegment: sql`select * from unnest(${ranked.map(({ segment }) => segment)}::text[],
      ${ranked.map(({ payers }) => payers)}::bigint[]) as p (segment, per)`,
    totals: sql`select place, segment, 'per', span, bucket, array[per]::text[] from payer where place = 'total'`,
    series: sql`select place, segment, 'per', span, bucket, array[per]::text[] from payer
      where place = 'other' or place = 'segment' and segment in (select segment from ranked where kept)`,
  };
}
