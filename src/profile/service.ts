// Creates, reads and changes profiles.
import type { Kysely } from 'kysely';
import { forceGenericPlans } from '../db/prepared.ts';
import { inTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { apiError, validationError, valueError } from '../errors.ts';
import { raiseVersion } from '../facts/version.ts';
import { parseDatetime } from '../lib/datetime.ts';
import { type Attributes, mergeAttributes, readAttributes } from './attributes.ts';
import type { ProfileBody } from './body.ts';
import type { ProfileIdentity, SentIdentity } from './identity.ts';
import { lockKeepingPlans, lockProfile, lockProfileToRead } from './queries.ts';
import { readShownState } from './read-state.ts';
import type { ProfileKey, ProfileState } from './state.ts';
import { claimCustomer, insertProfile, readAttributesOf, updateProfileRow, writeInstallOf } from './writes.ts';

interface Target {
  app: App;
  identity: ProfileIdentity;
}

/** Names a profile that may be created, or given a name. */
interface NewTarget {
  app: App;
  identity: SentIdentity;
}

/** A name may be taken and freed again between two statements, but not plausibly more often than this. */
const ATTEMPTS = 10;

function mergedAttributes(stored: Attributes, given: unknown): Attributes {
  const read = readAttributes(given);
  if ('fault' in read) throw validationError([read.fault]);
  const merged = mergeAttributes(stored, read.changes);
  if ('fault' in merged) throw validationError([merged.fault]);
  return merged.attributes;
}

/** Writes what the body names to a profile that the caller has locked or created. */
async function applyBody(
  trx: Kysely<DB>,
  app: App,
  { profileId, body, isNew }: { profileId: string; body: ProfileBody; isNew: boolean },
) {
  const { installed_at, country, store, custom_attributes } = body;
  const row = {
    ...(installed_at && { installed_at: parseDatetime(installed_at) as string }),
    ...(country && { country: country.toUpperCase() }),
    ...(store && { store }),
  };
  const isInstallNamed = Object.keys(row).length > 0;
  const key = { app_id: app.app_id, profile_id: profileId };
  const attributes = custom_attributes
    ? mergedAttributes(await readAttributesOf(trx, key), custom_attributes)
    : undefined;
  if (isInstallNamed || attributes) {
    await updateProfileRow(trx, key, { ...row, ...(attributes && { custom_attributes: JSON.stringify(attributes) }) });
  }
  if (isInstallNamed || isNew) {
    await writeInstallOf(trx, app, profileId);
    await raiseVersion(trx, app.app_key);
  }
}

/** Gives the name to a profile that the caller has locked, and frees the name that it had. */
async function attachCustomer(
  trx: Kysely<DB>,
  profile: ProfileKey,
  customer: { user_id: string; source: string },
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const owner = await claimCustomer(trx, { ...profile, customer_user_id: customer.user_id });
    if (owner === profile.profile_id) return;
    if (owner !== undefined) throw valueError(customer.source, 'Belongs to another profile.');
  }
  throw apiError('unavailable');
}

async function lockOrCreate(
  trx: Kysely<DB>,
  { app, identity }: NewTarget,
): Promise<{ profileId: string; isNew: boolean }> {
  const { app_id } = app;
  const { customer_user_id, customer_source, profile_id } = identity;
  if (profile_id !== null) {
    const profileId = await lockProfile(trx, app_id, { profile_id, customer_user_id: null });
    if (profileId === undefined) throw apiError('profile_not_found');
    if (customer_user_id !== null) {
      await attachCustomer(
        trx,
        { app_id, profile_id: profileId },
        { user_id: customer_user_id, source: customer_source },
      );
    }
    return { profileId, isNew: false };
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const known = customer_user_id === null ? undefined : await lockProfile(trx, app_id, identity);
    if (known !== undefined) return { profileId: known, isNew: false };
    // Undefined if another request has just created the profile.
    const made = await insertProfile(trx, app_id, customer_user_id);
    if (made !== undefined) return { profileId: made, isNew: true };
  }
  throw apiError('unavailable');
}

/**
 * Creates a profile, or updates the one that is named. The customer user id alone finds or creates its profile; both
 * identifiers give the name to the profile with that id; neither creates an anonymous profile.
 */
export async function createProfile(
  { db }: Pick<Deps, 'db'>,
  target: NewTarget & { body: ProfileBody },
): Promise<ProfileState> {
  const { app, body } = target;
  return inTransaction(db, async (trx) => {
    await forceGenericPlans(trx);
    const found = await lockOrCreate(trx, target);
    await applyBody(trx, app, { ...found, body });
    return readShownState(trx, { app_id: app.app_id, profile_id: found.profileId });
  });
}

export async function updateProfile(
  { db }: Pick<Deps, 'db'>,
  { app, identity, body }: Target & { body: ProfileBody },
): Promise<ProfileState> {
  return inTransaction(db, async (trx) => {
    const profileId = await lockKeepingPlans(trx, lockProfile, { app, identity });
    await applyBody(trx, app, { profileId, body, isNew: false });
    return readShownState(trx, { app_id: app.app_id, profile_id: profileId });
  });
}

export async function readProfile({ db }: Pick<Deps, 'db'>, { app, identity }: Target): Promise<ProfileState> {
  return inTransaction(db, async (trx) => {
    const profileId = await lockKeepingPlans(trx, lockProfileToRead, { app, identity });
    return readShownState(trx, { app_id: app.app_id, profile_id: profileId });
  });
}
