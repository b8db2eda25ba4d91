// Events of a moment read fact by fact, in parts that an index of the moment answers alone: it holds days and keys, neither instants nor
// profiles. So instants are looked at today only, and profiles whose label is pending are counted anew by themselves.
import { sql } from 'kysely';
import { todayIn } from './calendar.ts';
import type { Entries, Moment } from './entries.ts';
import { asWritten, countOnce, factRows, relabelled } from './fact-rows.ts';
import { dayOf, readsPendingLabels, type Source, type Sql } from './sources.ts';

interface Piece {
  source: Source;
  where: Sql[];
}

/** Past days, all of which are before now, and the others. */
function cutAtToday(source: Source, at: Moment): Piece[] {
  const { query, span } = source;
  if (!span.reachesNow || !query.inAppZone) return [{ source, where: [] }];
  const day = dayOf(at);
  const today = sql.lit(todayIn(query.zone, query.now));
  const past = { ...source, span: { ...span, reachesNow: false } };
  return [
    { source: past, where: [sql`${day} < ${today}`] },
    { source, where: [sql`${day} >= ${today}`] },
  ];
}

/** The parts that make up the entries, `bucket, key, n, a0 …`. */
export function eventParts(source: Source, entries: Entries): Sql[] {
  const { of, at } = entries;
  const counted = countOnce(entries);
  const written = cutAtToday(source, at).map(({ source: piece, where }) =>
    factRows(piece, entries, { ...counted, ...asWritten(of, where) }),
  );
  if (!readsPendingLabels(source)) return written;
  return [...written, factRows(source, entries, { ...counted, ...relabelled(source, entries, []) })];
}
