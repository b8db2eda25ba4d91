// Statements that find and lock profiles.
import { type Kysely, sql } from 'kysely';
import { StaleReadError } from '../db/failures.ts';
import { overlapping } from '../db/overlap.ts';
import { executePrepared, forceGenericPlans } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import { apiError } from '../errors.ts';
import { isUuid } from '../lib/uuid.ts';
import type { AppIdentity, ProfileIdentity } from './identity.ts';

/** Selects the living profile that both given identifiers name. */
function profileNamed(trx: Kysely<DB>, appId: string, { customer_user_id, profile_id }: ProfileIdentity) {
  return (
    trx
      .selectFrom('profile')
      .select('profile_id')
      .where('app_id', '=', appId)
      .where('deleted_at', 'is', null)
      // Text that is not a UUID names nobody; the comparison itself would fail.
      .$if(profile_id !== null, (query) =>
        query.where('profile_id', '=', isUuid(profile_id as string) ? (profile_id as string) : null),
      )
      .$if(customer_user_id !== null, (query) =>
        query
          .where('profile_id', '=', (eb) =>
            eb
              .selectFrom('profile_identity')
              .select('profile_identity.profile_id')
              .where('profile_identity.app_id', '=', appId)
              .where('profile_identity.customer_user_id', '=', customer_user_id as string),
          )
          // Checked again once the lock is held: the profile may have lost the name meanwhile.
          .where('customer_user_id', '=', customer_user_id as string),
      )
  );
}

type ReadProfile = (trx: Kysely<DB>, appId: string, identity: ProfileIdentity) => Promise<string | undefined>;

/** Finds a profile without locking it: by the time it is locked, it may be gone or renamed. */
export const findProfile: ReadProfile = async (trx, appId, identity) =>
  (await profileNamed(trx, appId, identity).executeTakeFirst())?.profile_id;

/** Finds and locks the living profile that both given identifiers name; undefined if there is none. */
export const lockProfile: ReadProfile = async (trx, appId, identity) =>
  (await executePrepared(trx, 'lock_profile', profileNamed(trx, appId, identity).forNoKeyUpdate()))[0]?.profile_id;

/** Like lockProfile, but also locks out those that merely refer to the profile: attributions. */
export const lockProfileToDelete: ReadProfile = async (trx, appId, identity) =>
  (await profileNamed(trx, appId, identity).forUpdate().executeTakeFirst())?.profile_id;

/** Keeps writers out while the profile is read: otherwise a later state could carry an earlier timestamp. */
export const lockProfileToRead: ReadProfile = async (trx, appId, identity) =>
  (await executePrepared(trx, 'share_profile', profileNamed(trx, appId, identity).forShare()))[0]?.profile_id;

/**
 * Throws profile_not_found. If the name went to another profile while we waited for the former owner's lock, the
 * transaction has to start over instead: more than that owner's id may have been read.
 */
export async function throwNotFoundOrStale(
  trx: Kysely<DB>,
  { app, identity }: { app: Pick<App, 'app_id'>; identity: ProfileIdentity },
): Promise<never> {
  const isNamed = identity.customer_user_id !== null;
  if (isNamed && (await findProfile(trx, app.app_id, identity)) !== undefined) {
    throw new StaleReadError('a name went to another profile meanwhile');
  }
  throw apiError('profile_not_found');
}

/**
 * Locks the profile that a request is about, in a transaction that keeps the plans of its statements from here on.
 * Throws profile_not_found.
 */
export async function lockKeepingPlans(
  trx: Kysely<DB>,
  lock: ReadProfile,
  { app, identity }: { app: Pick<App, 'app_id'>; identity: ProfileIdentity },
): Promise<string> {
  const [, profileId] = await overlapping(trx, (each) => [forceGenericPlans(each), lock(each, app.app_id, identity)]);
  return profileId ?? throwNotFoundOrStale(trx, { app, identity });
}

/** The place of a request in the given array, and the profile locked for it. */
export interface LockedAt {
  /** Starts at 1. */
  place: number;
  profile_id: string;
}

/**
 * Locks the living profiles that the identifiers name, except those that another transaction holds: waiting for one
 * would delay the others. Locks in the order of profile_id, as everywhere.
 */
export async function lockFreeProfiles(trx: Kysely<DB>, identities: readonly AppIdentity[]): Promise<LockedAt[]> {
  const statement = sql<LockedAt>`
    select place::integer, p.profile_id
    from unnest(
      ${identities.map(({ app_id }) => app_id)}::uuid[],
      ${identities.map(({ customer_user_id }) => customer_user_id)}::text[],
      ${identities.map(({ profile_id }) => profile_id)}::uuid[]
    ) with ordinality as named (app_id, customer_user_id, profile_id, place)
    left join profile_identity i on i.app_id = named.app_id and i.customer_user_id = named.customer_user_id
    join profile p on p.app_id = named.app_id and p.profile_id = coalesce(i.profile_id, named.profile_id)
      and p.deleted_at is null
      and (named.profile_id is null or p.profile_id = named.profile_id)
      and (named.customer_user_id is null or p.customer_user_id = named.customer_user_id)
    order by p.app_id, p.profile_id, place
    for no key update of p skip locked`;
  return executePrepared(trx, 'lock_free_profiles', statement);
}
