// Statements that record attributions, a whole group at a time.
import { type Kysely, sql } from 'kysely';
import { executePrepared } from '../db/prepared.ts';
import { inTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import { raiseVersions } from '../facts/version.ts';
import type { AppIdentity } from '../profile/identity.ts';
import { queueLabels, recordAttributions } from './record.ts';

/** Takes the place of a label's key when the profile already has a record, which stays. */
export const NOT_RECORDED = 0;

export interface AttributionRow extends AppIdentity {
  /** Null if the profile was not found before; nothing is written then. */
  attribution_key: number | null;
  attribution_user_id: string | null;
}

/** Returns, for each identity, whether it names a living profile and whether that profile has a record. */
export async function lookUpProfiles(
  db: Kysely<DB>,
  identities: readonly AppIdentity[],
): Promise<{ is_found: boolean; has_record: boolean }[]> {
  const column = (name: keyof AppIdentity) => identities.map((identity) => identity[name]);
  const { rows } = await sql<{ is_found: boolean; has_record: boolean }>`
    select profile.profile_id is not null as is_found, exists (select from profile_attribution r
      where (r.app_id, r.profile_id) = (profile.app_id, profile.profile_id)) as has_record
    from unnest(${column('app_id')}::uuid[], ${column('customer_user_id')}::text[], ${column('profile_id')}::uuid[])
      with ordinality as given (app_id, customer_user_id, given_id, position)
    left join profile_identity identity using (app_id, customer_user_id)
    left join profile on profile.app_id = given.app_id
      and profile.profile_id = coalesce(identity.profile_id, given_id)
      and profile.deleted_at is null
      and case when given.customer_user_id is null then given_id is not null
        else identity.profile_id is not null and (given_id is null or given_id = identity.profile_id) end
    order by position`.execute(db);
  return rows;
}

/** `again` is the id of the profile, if an earlier row is for the same one. */
type RowResult = 'written' | 'no_profile' | { again: string };

/**
 * Writes the first row of every profile; further rows of the same profile are left for another call. One statement, one
 * commit.
 */
async function writeOncePerProfile(
  db: Kysely<DB>,
  rows: readonly AttributionRow[],
  replaces: boolean,
): Promise<RowResult[]> {
  const column = <K extends keyof AttributionRow>(name: K) => rows.map((row) => row[name]);
  const statement = sql<{ position: number; again: string | null }>`
    with given as (
      select * from unnest(${column('app_id')}::uuid[], ${column('customer_user_id')}::text[],
        ${column('profile_id')}::uuid[], ${column('attribution_key')}::integer[], ${column('attribution_user_id')}::text[])
        with ordinality as given (app_id, customer_user_id, given_id, attribution_key, attribution_user_id, position)
      where attribution_key is not null
    ), by_id as (
      select given.*, profile_id from given join profile on (profile.app_id, profile_id) = (given.app_id, given_id)
      where given.customer_user_id is null and deleted_at is null
      for key share of profile
    ), by_name as (
      -- A deletion removes the identity, so locking that is as good as locking the profile, which need not be read.
      select given.*, profile_id from given join profile_identity identity using (app_id, customer_user_id)
      where given_id is null or given_id = profile_id
      for key share of identity
    ), living as (
      select app_id, profile_id, attribution_key, attribution_user_id, position from by_id
      -- Locks profiles before identities, as a deletion does.
      union all select app_id, profile_id, attribution_key, attribution_user_id, position from by_name
    ), numbered as (
      select *, row_number() over (partition by app_id, profile_id order by position) as turn, false as is_labelled from living
    ), written as (
      ${recordAttributions(sql`numbered where turn = 1 and attribution_key <> ${sql.lit(NOT_RECORDED)}`, { replaces })}
    ), relabelled as (
      select app_key, queue_no, profile_id, attribution_key, earlier_key from written join app using (app_id)
      where earlier_key is distinct from attribution_key
    ), queued as (
      ${queueLabels(sql`relabelled`)}
    ), raised as (
      ${raiseVersions(sql`(select distinct app_key from relabelled)`)}
    )
    select position::integer, case when turn > 1 then profile_id end as again from numbered`;
  const results: RowResult[] = rows.map(() => 'no_profile');
  for (const { position, again } of await executePrepared(db, 'write_attributions', statement)) {
    results[position - 1] = again === null ? 'written' : { again };
  }
  return results;
}

/** A row after another of the same profile, which `profile` identifies. */
interface LaterRow {
  row: AttributionRow;
  profile: string;
}

/** How many records a profile keeps: the current one and ten superseded ones. */
const MAX_KEPT_RECORDS = 11;

/**
 * Returns the rows, which replace each other, without those that would leave no trace: a row that the next one of its
 * profile repeats, or one with so many successors that it is not even kept as superseded. So a profile named by a whole
 * group takes as few statements as any other.
 */
function dropTraceless(rows: readonly LaterRow[]): AttributionRow[] {
  const later = new Map<string, AttributionRow[]>();
  const leavesTrace = ({ row, profile }: LaterRow) => {
    const followers = later.get(profile) ?? [];
    const next = followers.at(-1);
    const isRepeated =
      next?.attribution_key === row.attribution_key && next.attribution_user_id === row.attribution_user_id;
    if (isRepeated || followers.length === MAX_KEPT_RECORDS) return false;
    later.set(profile, [...followers, row]);
    return true;
  };
  const kept = rows.toReversed().filter(leavesTrace).toReversed();
  return kept.map(({ row }) => row);
}

/**
 * Writes all or none: if only half were written and all were then retried, the list of superseded records would have
 * that half twice.
 */
async function writeInRounds(trx: Kysely<DB>, rows: readonly AttributionRow[]): Promise<void> {
  let remaining = rows;
  while (remaining.length > 0) {
    const results = await writeOncePerProfile(trx, remaining, true);
    remaining = remaining.filter((_, i) => typeof results[i] === 'object');
  }
}

/**
 * Records the attributions in the order given, even if several name one profile. Returns whether each found its
 * profile. A record replaces the profile's previous one as a whole, or is dropped if `replaces` is false; the same
 * record again changes nothing.
 */
export async function writeAttributions(
  db: Kysely<DB>,
  rows: readonly AttributionRow[],
  replaces: boolean,
): Promise<boolean[]> {
  const results = await writeOncePerProfile(db, rows, replaces);
  // If the first record stays, those after it have nothing to write.
  const later = results.flatMap((result, i): LaterRow[] => {
    const row = rows[i] as AttributionRow;
    return typeof result === 'object' ? [{ row, profile: `${row.app_id} ${result.again}` }] : [];
  });
  if (replaces && later.length > 0) {
    const traced = dropTraceless(later);
    await (db.isTransaction ? writeInRounds(db, traced) : inTransaction(db, (trx) => writeInRounds(trx, traced)));
  }
  return results.map((result) => result !== 'no_profile');
}
