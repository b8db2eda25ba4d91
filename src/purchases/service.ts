// Setting a transaction of a profile (analytics 1, decisions 6): written, counted and told to webhooks in one transaction.
import type { Kysely } from 'kysely';
import { keepingPlans } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { apiError, validationError, valueError } from '../errors.ts';
import { type ChangeRequest, changeProfile } from '../profile/change.ts';
import { findProfile } from '../profile/queries.ts';
import { findOwner, lockChain, lockInOrder, type Owner } from './chain.ts';
import { loadPriceBook } from './price-book.ts';
import { type Amounts, priceRecord } from './pricing.ts';
import { type TransactionRecord, toRecord } from './record.ts';
import type { TransactionBody } from './schema.ts';
import { readBefore, tellChange } from './telling.ts';
import { claimChains, stageValues, writeTransactions } from './write.ts';

function foreignChain() {
  return valueError('store_original_transaction_id', 'This chain of transactions belongs to another profile.');
}

function mayMove({ is_deleted }: Owner, { sharing }: App): boolean {
  return is_deleted || sharing === 'transfer';
}

/** Locks the chain and, if it may move to the profile from another, both profiles in order; who owns it then. */
async function lockOwner(
  trx: Kysely<DB>,
  { app, identity }: ChangeRequest,
  record: TransactionRecord,
): Promise<Owner | undefined> {
  const chain = { ...record, app_id: app.app_id };
  await lockChain(trx, app, chain);
  let lockedId: string | undefined;
  for (;;) {
    // Looked at again under the locks: the owner may have been deleted meanwhile, or an import have moved the chain.
    const owner = await findOwner(trx, chain);
    if (!owner || !mayMove(owner, app) || owner.profile_id === lockedId) return owner;
    const profileId = await findProfile(trx, app.app_id, identity);
    if (profileId === undefined) throw apiError('profile_not_found');
    if (owner.profile_id === profileId) return owner;
    await lockInOrder(trx, app.app_id, [owner.profile_id, profileId]);
    lockedId = owner.profile_id;
  }
}

async function priceOf(trx: Kysely<DB>, app: App, record: TransactionRecord): Promise<Amounts> {
  const priced = priceRecord(record, await loadPriceBook(trx, app, [record]));
  if ('source' in priced) throw validationError([priced]);
  return priced;
}

/** Inserts or replaces the transaction; the body of the answer. */
export function setTransaction(
  deps: Pick<Deps, 'db' | 'now'>,
  { body, ...request }: ChangeRequest & { body: TransactionBody },
): Promise<string> {
  const { app } = request;
  const record = toRecord(body);
  let owner: Owner | undefined;
  return changeProfile(deps, request, {
    operation: 'set_transaction',
    changesFacts: true,
    async lockFirst(trx) {
      owner = await lockOwner(trx, request, record);
    },
    async work(trx, profile_id) {
      const key = { ...record, app_id: app.app_id, profile_id };
      if (owner && owner.profile_id !== profile_id && !mayMove(owner, app)) throw foreignChain();
      const amounts = await priceOf(trx, app, record);
      const before = await readBefore(trx, key, owner);
      const staged = stageValues([{ ...record, ...amounts, position: 0, profile_id }]);
      // By requests alone does a chain leave a living profile, and they take its lock.
      const execute = keepingPlans(trx, 'write_transaction');
      const areOwned = owner ? owner.profile_id === profile_id : (await claimChains(execute, app, [key])).length > 0;
      const { refused } = await writeTransactions(execute, app, staged, { areOwned });
      // Only an import could have given the chain to another profile since it was looked at.
      if (refused.size > 0) throw foreignChain();
      return tellChange(trx, key, before);
    },
  });
}
