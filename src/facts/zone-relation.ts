// The reporting zone of an app as the arguments of SQL's local_day().
import { type RawBuilder, sql } from 'kysely';
import { type Zone, zoneChanges, zoneOfApp } from '../lib/zone.ts';

/** The arrays as literals: the driver would otherwise serialize hundreds of changes again for every transaction. */
const literals = new WeakMap<Zone, { changesAt: string; offsets: string }>();

function literalsOf(zone: Zone): { changesAt: string; offsets: string } {
  let known = literals.get(zone);
  if (!known) {
    const { changesAt, offsetsSeconds } = zoneChanges(zone);
    known = { changesAt: `{${changesAt.join()}}`, offsets: `{${offsetsSeconds.join()}}` };
    literals.set(zone, known);
  }
  return known;
}

/** Returns a relation of one row: changes_at, offsets_s. */
export function zoneRelation(timezone: string): RawBuilder<unknown> {
  const { changesAt, offsets } = literalsOf(zoneOfApp(timezone));
  return sql`(select ${changesAt}::timestamptz[] as changes_at, ${offsets}::integer[] as offsets_s)`;
}
