// Sets a transaction of a profile (analytics.md 1, decisions.md 6): writes it, counts it and records its events, all in
// one database transaction.
import type { Kysely } from 'kysely';
import { type Changed, type ChangeRequest, changeProfile } from '../changes/change.ts';
import { StaleReadError } from '../db/failures.ts';
import { overlapping } from '../db/overlap.ts';
import { keepingPlans } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { apiError, validationError, valueError } from '../errors.ts';
import { lockInOrder } from '../facts/profile-lock.ts';
import { findProfile } from '../profile/queries.ts';
import { readShownSince } from '../profile/read-state.ts';
import { priceTransactions } from './amounts.ts';
import { type ChainKey, findOwner, lockChain, type Owner } from './chain.ts';
import { describeChange, readSnapshot } from './change-events.ts';
import { collectDueEvents } from './due.ts';
import { loadPriceBook } from './price-book.ts';
import { toRecord } from './record.ts';
import type { TransactionBody } from './schema.ts';
import { claimChains, mayMove, type Staged, stageValues, writeOwnChain, writeTransactions } from './write.ts';

function foreignChain() {
  return valueError('store_original_transaction_id', 'This chain of transactions belongs to another profile.');
}

/**
 * If the locked chain may move to the profile from its owner, locks both profiles in order. Returns who owns the chain
 * then, and whether that owner is locked.
 */
async function lockOwner(
  trx: Kysely<DB>,
  { app, identity }: ChangeRequest,
  { chain, found }: { chain: Omit<ChainKey, 'profile_id'>; found: Owner | undefined },
): Promise<{ owner: Owner | undefined; isLocked: boolean }> {
  let owner = found;
  let lockedId: string | undefined;
  while (owner && mayMove(app, owner.is_deleted) && owner.profile_id !== lockedId) {
    const profileId = await findProfile(trx, app.app_id, identity);
    if (profileId === undefined) throw apiError('profile_not_found');
    if (owner.profile_id === profileId) break;
    await lockInOrder(trx, app.app_id, [owner.profile_id, profileId]);
    lockedId = owner.profile_id;
    // Checked again under the locks: the owner may have been deleted meanwhile, or an import may have moved the chain.
    owner = await findOwner(trx, chain);
  }
  return { owner, isLocked: owner?.profile_id === lockedId };
}

interface Write {
  key: ChainKey;
  staged: Staged;
  /** The moment (a timestamp) up to which changes by time alone have been reported. */
  now: string;
}

/**
 * Writes to a chain that belongs to the profile, or to nobody yet: no statement needs rows that the one before returns.
 */
async function writeOwn(
  trx: Kysely<DB>,
  app: App,
  { key, staged, now, isOwned }: Write & { isOwned: boolean },
): Promise<Changed> {
  // Only requests take a chain from a living profile, and they need its lock, which we hold.
  const [before, claimed, , after] = await overlapping(trx, (each) => {
    const execute = keepingPlans(each, 'write_transaction');
    return [
      readSnapshot(each, key, { now, owner: isOwned ? key : undefined }),
      isOwned ? [key] : claimChains(execute, app, [key]),
      writeOwnChain(execute, app, { chain: key, staged }),
      readSnapshot(each, key, { now, owner: key }),
    ];
  });
  if (claimed.length === 0) throw new StaleReadError('an import gave the chain an owner meanwhile');
  return describeChange(key, { now, before, after });
}

/** Writes to a chain that moves to this profile from another one, which is locked, too. */
async function takeOver(
  trx: Kysely<DB>,
  app: App,
  { key, staged, owner, ...write }: Write & { owner: Owner },
): Promise<Changed> {
  const { app_id } = key;
  const { profile_id, is_deleted } = owner;
  const { now, events } = is_deleted
    ? { now: write.now, events: [] }
    : await collectDueEvents(trx, { app_id, profile_id });
  const readOwner = () => (is_deleted ? undefined : readShownSince(trx, { app_id, profile_id }, now));
  const before = await readSnapshot(trx, key, { now, owner });
  const had = await readOwner();
  const { refused } = await writeTransactions(keepingPlans(trx, 'write_transaction'), app, staged);
  // Only an import could have given the chain to another profile since it was checked.
  if (refused.size > 0) throw foreignChain();
  const after = await readSnapshot(trx, key, { now, owner: key });
  const has = await readOwner();
  const states = had && has && { before: had, after: has };
  const changed = describeChange(key, { now, before, after, formerOwner: { profile_id, states } });
  return { ...changed, events: [...events, ...changed.events] };
}

/** Inserts or replaces the transaction. Returns the body of the answer. */
export function setTransaction(
  deps: Pick<Deps, 'db' | 'now'>,
  { body, ...request }: ChangeRequest & { body: TransactionBody },
): Promise<string> {
  const { app } = request;
  const record = toRecord(body);
  const { store, store_original_transaction_id } = record;
  const chain = { app_id: app.app_id, store, store_original_transaction_id };
  return changeProfile(deps, request, {
    operation: 'set_transaction',
    changesFacts: true,
    async lockFirst(trx) {
      const [, found, book] = await overlapping(trx, (each) => [
        lockChain(each, app, chain),
        findOwner(each, chain),
        loadPriceBook(each, app, [record]),
      ]);
      return { book, ...(await lockOwner(trx, request, { chain, found })) };
    },
    async work(trx, profile_id, { book, owner, isLocked }) {
      const other = owner?.profile_id === profile_id ? undefined : owner;
      if (other && !mayMove(app, other.is_deleted)) throw foreignChain();
      if (other && !isLocked) throw new StaleReadError('a name went to another profile meanwhile');
      const key = { ...chain, profile_id };
      const priced = await priceTransactions(trx, { app, book }, [record]);
      const amounts = priced[0]!;
      if ('source' in amounts) throw validationError([amounts]);
      const staged = stageValues([{ ...record, ...amounts, position: 0, profile_id }]);
      const { now, events } = await collectDueEvents(trx, { app_id: app.app_id, profile_id });
      const write = { key, staged, now };
      const changed = await (other
        ? takeOver(trx, app, { ...write, owner: other })
        : writeOwn(trx, app, { ...write, isOwned: owner !== undefined }));
      return { ...changed, events: [...events, ...changed.events] };
    },
  });
}
