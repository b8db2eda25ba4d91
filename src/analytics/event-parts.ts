// Counts the events of a moment fact by fact, in parts that an index on the moment can answer alone. Such an index
// holds days and keys, but instants and profiles only for rare moments. So instants are read only for today and for
// days that another zone cuts in two, and profiles whose label is pending are corrected separately. Purchases, which
// totals and columns have, are read from their rows.
import { sql } from 'kysely';
import { appDaysOf, appToday, wholeDaysOf } from './app-days.ts';
import type { Entries, Moment } from './entries.ts';
import { asWritten, countedInOneRead, factRows } from './fact-rows.ts';
import { relabelledBefore, relabelledSince } from './relabelled/rows.ts';
import { dayOf, readsPendingLabels, type Source, type Sql } from './sources.ts';

interface Piece {
  source: Source;
  where: Sql[];
}

/** Separates past days that lie within one bucket, in whatever zone, from the rest. */
function cutAtEdges(source: Source, at: Moment): Piece[] {
  const { query, span } = source;
  const { cut, edges } = wholeDaysOf(source);
  const { first, end } = appDaysOf(source);
  if (cut.length >= end - first) return [{ source, where: [] }];
  const whole = { ...source, query: { ...query, inAppZone: true }, span: { ...span, days: edges, reachesNow: false } };
  if (!span.reachesNow && cut.length === 0) return [{ source: whole, where: [] }];
  const day = dayOf(at);
  const today = sql.lit(appToday(query));
  // Not `<> all`: the planner would expect each comparison to pass as rarely as facts have the moment.
  const isCut = sql`${day} = any(${cut}::integer[])`;
  return [
    { source: whole, where: [sql`${day} < ${today}`, sql`(${isCut}) is not true`] },
    { source, where: [span.reachesNow ? sql`(${day} >= ${today} or ${isCut})` : isCut] },
  ];
}

/** Returns the parts that make up the entries, with columns `bucket, key, n, a0 …`. */
export function eventParts(source: Source, entries: Entries): Sql[] {
  const { of, at } = entries;
  const counted = countedInOneRead(entries);
  const written = cutAtEdges(source, at).map(({ source: piece, where }) =>
    factRows(piece, entries, { counted, facts: asWritten(of, where) }),
  );
  if (!readsPendingLabels(source)) return written;
  const today = appToday(source.query);
  return [
    ...written,
    ...relabelledBefore(source, entries, { horizon: today }),
    ...(appDaysOf(source).end > today ? [relabelledSince(source, entries, today)] : []),
  ];
}
