// Entries of a chart as rows (bucket, key, sums): one select per kind of entry and span.
import { sql } from 'kysely';
import { countBuckets } from './calendar.ts';
import { AMOUNTS, type Entries, PURCHASES } from './entries.ts';
import { eventParts } from './event-parts.ts';
import { sumParts } from './parts.ts';
import {
  and,
  beforeEnd,
  bucketOf,
  conditions,
  dayOf,
  labelledFacts,
  moment,
  nowOf,
  openedBeforeNow,
  readsPendingLabels,
  type Source,
  type Sql,
  segmentKey,
  sinceStart,
} from './sources.ts';
import { hasTotals, totalParts } from './totals.ts';

/** Returns how many sums a row has: one count, or an amount on each money basis. */
export function widthOf(entries: readonly Entries[]): number {
  return Math.max(...entries.map(({ amount }) => AMOUNTS[amount].length), 1);
}

/** Selects `bucket, key, a0 …`; buckets count from 1. */
export function entryRows(source: Source, entries: Entries): Sql {
  if (hasTotals(source, entries)) return sumParts(entries, totalParts(source, entries));
  if (entries.of === 'install' && source.query.inAppZone && !readsPendingLabels(source))
    return installRows(source, entries);
  const byInstall = source.query.dateType === 'profile_install_date' && entries.of === 'transaction';
  if (entries.until) return byInstall ? stateRows(source, entries) : stockRows(source, entries);
  return byInstall ? cohortRows(source, entries) : sumParts(entries, eventParts(source, entries));
}

/** Selects every (bucket, key, profile_id) with a purchase. */
export function payerRows(source: Source): Sql {
  const [at, where] =
    source.query.dateType === 'profile_install_date'
      ? (['installed', cohortConditions(source, PURCHASES)] as const)
      : ([PURCHASES.at, datedConditions(source, PURCHASES)] as const);
  return sql`select distinct ${bucketOf(source, at)} as bucket, ${segmentKey(source, PURCHASES)} as key, f.profile_id
    from ${labelledFacts(source, PURCHASES)} where ${where}`;
}

/** Matches entries whose own date is in the span. */
function datedConditions(source: Source, entries: Entries): Sql {
  return and([...conditions(source, entries), ...sinceStart(source, entries.at), ...beforeEnd(source, entries.at)]);
}

/** Matches entries up to now, of the profiles installed in the span. */
function cohortConditions(source: Source, entries: Entries): Sql {
  const happened = sql`${moment(entries.at)} <= ${nowOf(source.query)}`;
  return and([...conditions(source, entries), ofInstalledInSpan(source), happened]);
}

/** Sums what the profiles installed in each bucket have had up to now. */
function cohortRows(source: Source, entries: Entries): Sql {
  return sql`select ${bucketOf(source, 'installed')} as bucket, ${segmentKey(source, entries)} as key, ${sums(entries)}
    from ${labelledFacts(source, entries)} where ${cohortConditions(source, entries)} group by 1, 2`;
}

/** Selects installs bucket by bucket, so that groups are few at a time and no install needs a search for its bucket. */
function installRows(source: Source, entries: Entries): Sql {
  const { days, reachesNow } = source.span;
  const isInstalled = reachesNow ? [sql`${moment('installed')} <= ${nowOf(source.query)}`] : [];
  return sql`select r.bucket::integer, i.* from unnest(${days.slice(0, -1)}::integer[], ${days.slice(1)}::integer[])
      with ordinality as r (since, until, bucket)
    cross join lateral (
      select ${segmentKey(source, entries)} as key, ${sums(entries)} from ${labelledFacts(source, entries)}
      where ${and([...conditions(source, entries), sql`${dayOf('installed')} >= r.since and ${dayOf('installed')} < r.until`, ...isInstalled])}
      group by 1 offset 0
    ) i`;
}

/** Matches transactions of the profiles installed in the span, starting from the installs: that side is indexed. */
function ofInstalledInSpan(source: Source): Sql {
  const inSpan = [...sinceStart(source, 'installed'), ...beforeEnd(source, 'installed')];
  return sql`f.profile_id in (
    select f.profile_id from fact_install f where ${and([sql`f.app_key = ${source.app.app_key}`, ...inSpan])})`;
}

/** Selects the present state of the profiles installed in each bucket. */
function stateRows(source: Source, entries: Entries): Sql {
  const now = nowOf(source.query);
  const isOpen = [sql`${moment(entries.at)} < ${now}`, sql`${moment(entries.until!)} >= ${now}`];
  return sql`select ${bucketOf(source, 'installed')} as bucket, ${segmentKey(source, entries)} as key, ${sums(entries)}
    from ${labelledFacts(source, entries)} where ${and([...conditions(source, entries), ofInstalledInSpan(source), ...isOpen])} group by 1, 2`;
}

/**
 * Selects what is open at the end of each bucket, as differences: an entry is added in the bucket in which it opens
 * (the first, if it opened before) and subtracted in the bucket in which it closes. Entries that are open at the end of
 * no bucket are left out.
 */
function stockRows(source: Source, entries: Entries): Sql {
  const { query, span } = source;
  const now = nowOf(query);
  const buckets = sql.lit(countBuckets(span));
  const until = moment(entries.until!);
  const closing = bucketOf(source, entries.until!);
  const closed = span.reachesNow ? sql`case when ${until} < ${now} then ${closing} else ${buckets} + 1 end` : closing;
  const isSeen = [
    ...beforeEnd(source, entries.at),
    ...openedBeforeNow(source, entries.at),
    ...sinceStart(source, entries.until!),
  ];
  const differences = Array.from(
    { length: widthOf([entries]) },
    (_, i) => sql`change.sign * ${sql.ref(`a${i}`)} as ${sql.ref(`a${i}`)}`,
  );
  return sql`select change.bucket, key, ${sql.join(differences)}
    from (
      select greatest(${bucketOf(source, entries.at)}, 1) as opened, ${closed} as closed,
        ${segmentKey(source, entries)} as key, ${sums(entries)}
      from ${labelledFacts(source, entries)} where ${and([...conditions(source, entries), ...isSeen])} group by 1, 2, 3
    ) kept
    cross join lateral (values (opened, 1), (closed, -1)) as change (bucket, sign)
    where opened < closed and change.bucket <= ${buckets}`;
}

function sums({ amount, times }: Entries): Sql {
  const columns = AMOUNTS[amount];
  if (columns.length === 0) return sql`count(*) * ${sql.lit(times)} as a0`;
  return sql.join(
    columns.map((column, i) => sql`sum(${sql.ref(`f.${column}`)}) * ${sql.lit(times)} as ${sql.ref(`a${i}`)}`),
  );
}
