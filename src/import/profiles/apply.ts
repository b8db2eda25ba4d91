// Applies profile records one after the other. Pure: stored profiles go in, changed ones come out, so that a batch of a
// file is written in one go, with the same result as writing its records one by one.
import type { App } from '../../deps.ts';
import type { FieldError } from '../../errors.ts';
import { type Attributes, mergeAttributes } from '../../profile/attributes.ts';
import type { ProfileRecord } from './record.ts';

/** The current attribution of a profile, by its key in dim_attribution. */
export interface KeyedAttribution {
  attribution_key: number;
  attribution_user_id: string | null;
}

export interface Profile {
  profile_id: string;
  customer_user_id: string | null;
  installed_at: string;
  country: string | null;
  store: string | null;
  custom_attributes: Attributes;
  attribution: KeyedAttribution | null;
}

export type KeyedRecord = Omit<ProfileRecord, 'attribution'> & { attribution: KeyedAttribution | null };

export interface Known {
  /** The living profiles that the records may name. */
  profiles: readonly Profile[];
  deletedIds: ReadonlySet<string>;
}

export interface Settings {
  /** When a new profile counts as installed, unless its record says. */
  now: string;
  policy: App['attribution_policy'];
  newId: () => string;
}

/** A profile to be written; `before` is undefined for a new one. */
export interface Change {
  before: Profile | undefined;
  after: Profile;
}

export interface Applied {
  changes: Change[];
  /** Per record: whether it changed its profile, or why it was refused. */
  verdicts: ('written' | 'unchanged' | FieldError)[];
}

function refused(source: string, message: string): FieldError {
  return { source, code: 'value_error', message };
}

function sortedText(attributes: Attributes): string {
  return JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isSame(one: Profile, other: Profile): boolean {
  return (
    one.customer_user_id === other.customer_user_id &&
    one.installed_at === other.installed_at &&
    one.country === other.country &&
    one.store === other.store &&
    one.attribution?.attribution_key === other.attribution?.attribution_key &&
    one.attribution?.attribution_user_id === other.attribution?.attribution_user_id &&
    sortedText(one.custom_attributes) === sortedText(other.custom_attributes)
  );
}

function profileAfter(
  { profileId, before }: { profileId: string; before: Profile | undefined },
  record: KeyedRecord,
  { now, policy }: Settings,
): Profile | FieldError {
  const merged = mergeAttributes(before?.custom_attributes ?? {}, record.attributes);
  if ('fault' in merged) return merged.fault;
  const keepsFirst = policy === 'first' && before?.attribution;
  return {
    profile_id: profileId,
    customer_user_id: record.customer_user_id ?? before?.customer_user_id ?? null,
    installed_at: record.installed_at ?? before?.installed_at ?? now,
    country: record.country ?? before?.country ?? null,
    store: record.store ?? before?.store ?? null,
    custom_attributes: merged.attributes,
    attribution: (!keepsFirst && record.attribution) || before?.attribution || null,
  };
}

export function applyRecords(known: Known, records: readonly KeyedRecord[], settings: Settings): Applied {
  const stored = new Map(known.profiles.map((profile) => [profile.profile_id, profile]));
  const current = new Map(stored);
  const owners = new Map<string, string>();
  for (const { customer_user_id, profile_id } of known.profiles) {
    if (customer_user_id !== null) owners.set(customer_user_id, profile_id);
  }

  function resolve({ profile_id, customer_user_id }: KeyedRecord): string | FieldError {
    const owner = customer_user_id === null ? undefined : owners.get(customer_user_id);
    if (profile_id === null) return owner ?? settings.newId();
    if (known.deletedIds.has(profile_id)) return refused('profile_id', 'The profile was deleted.');
    if (owner === undefined || owner === profile_id) return profile_id;
    if (current.has(profile_id))
      return refused('customer_user_id', 'Does not belong to the profile that profile_id names.');
    return owner;
  }

  function apply(record: KeyedRecord): { profileId: string; isChanged: boolean } | FieldError {
    const profileId = resolve(record);
    if (typeof profileId !== 'string') return profileId;
    const before = current.get(profileId);
    const after = profileAfter({ profileId, before }, record, settings);
    if ('code' in after) return after;
    if (before && isSame(before, after)) return { profileId, isChanged: false };
    if (before?.customer_user_id != null) owners.delete(before.customer_user_id);
    if (after.customer_user_id !== null) owners.set(after.customer_user_id, profileId);
    current.set(profileId, after);
    return { profileId, isChanged: true };
  }

  const outcomes = records.map(apply);
  const changes = [...current.values()]
    .map((after) => ({ before: stored.get(after.profile_id), after }))
    .filter(({ before, after }) => !before || !isSame(before, after));
  const changed = new Set(changes.map(({ after }) => after.profile_id));
  const verdicts = outcomes.map((outcome) => {
    if ('code' in outcome) return outcome;
    // Records that cancel each other out have changed nothing.
    return outcome.isChanged && changed.has(outcome.profileId) ? 'written' : 'unchanged';
  });
  return { changes, verdicts };
}
