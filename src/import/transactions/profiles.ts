// Finds and locks the profiles that records name, and finds those that own their chains.
import { type Kysely, sql } from 'kysely';
import { StaleReadError } from '../../db/failures.ts';
import type { DB } from '../../db/types.ts';
import type { App } from '../../deps.ts';
import type { FieldError } from '../../errors.ts';
import type { ProfileIdentity } from '../../profile/identity.ts';
import type { TransactionRecord } from '../../purchases/record.ts';
import { distinctTexts } from '../identity.ts';

type Named = { profile_id: string } | { fault: FieldError };

async function profilesOf(trx: Kysely<DB>, app: App, customerIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ customer_user_id: string; profile_id: string }>`
    select customer_user_id, profile_id from profile_identity
    where app_id = ${app.app_id} and customer_user_id = any(${customerIds}::text[])`.execute(trx);
  return new Map(rows.map(({ customer_user_id, profile_id }) => [customer_user_id, profile_id]));
}

/**
 * Locks those of the profiles that are not deleted, in the order of profile_id. Returns their customer user ids by
 * profile_id.
 */
async function lockLiving(trx: Kysely<DB>, app: App, ids: readonly string[]): Promise<Map<string, string | null>> {
  const { rows } = await sql<{ profile_id: string; customer_user_id: string | null }>`
    select profile_id, customer_user_id from profile
    where app_id = ${app.app_id} and profile_id = any(${ids}::uuid[]) and deleted_at is null
    order by profile_id for no key update`.execute(trx);
  return new Map(rows.map(({ customer_user_id, profile_id }) => [profile_id, customer_user_id]));
}

/**
 * Returns the living profile that each record names, in the same order, or why it names none. All of them are locked.
 */
export async function lockNamed(trx: Kysely<DB>, app: App, identities: readonly ProfileIdentity[]): Promise<Named[]> {
  const profiles = await profilesOf(
    trx,
    app,
    distinctTexts(identities.map(({ customer_user_id }) => customer_user_id)),
  );
  const idOf = ({ profile_id, customer_user_id }: ProfileIdentity) =>
    customer_user_id === null ? profile_id : profiles.get(customer_user_id);
  const living = await lockLiving(trx, app, distinctTexts(identities.map(idOf)));
  for (const [customerId, id] of profiles) {
    if (living.get(id) !== customerId) throw new StaleReadError('a name was taken from its profile meanwhile');
  }
  return identities.map((identity) => {
    const id = idOf(identity);
    const isNamedTwice = identity.profile_id !== null && identity.profile_id !== id;
    if (typeof id === 'string' && living.has(id) && !isNamedTwice) return { profile_id: id };
    const source = identity.customer_user_id === null ? 'profile_id' : 'customer_user_id';
    const message =
      isNamedTwice && typeof id === 'string'
        ? 'Does not name the same profile as profile_id.'
        : 'The app has no such profile.';
    return { fault: { source, code: 'value_error', message } };
  });
}

/** Explains why records are refused whose chains belong to other profiles, in the same order. */
export async function listForeignFaults(
  trx: Kysely<DB>,
  app: App,
  records: readonly Pick<TransactionRecord, 'store' | 'store_original_transaction_id'>[],
): Promise<FieldError[]> {
  if (records.length === 0) return [];
  const stores = records.map(({ store }) => store);
  const ids = records.map(({ store_original_transaction_id }) => store_original_transaction_id);
  const { rows } = await sql<{ profile_id: string | null }>`
    select chain.profile_id from unnest(${stores}::text[], ${ids}::text[]) with ordinality as named (store, id, place)
    left join purchase_chain chain
      on chain.app_id = ${app.app_id} and chain.store = named.store and chain.store_original_transaction_id = named.id
    order by place`.execute(trx);
  return rows.map(({ profile_id }) => ({
    source: 'store_original_transaction_id',
    code: 'value_error',
    // The owner may be gone by now.
    message: profile_id ? `The chain belongs to the profile ${profile_id}.` : 'The chain belongs to another profile.',
  }));
}
