// Chains that nobody owns yet, as nearly all are when a history is imported. Their transactions are copied straight
// into place, and their facts are written without looking for earlier ones.
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { CopyColumn } from '../../db/copy.ts';
import type { CopyValue } from '../../db/copy-row.ts';
import { planningEachTime } from '../../db/prepared.ts';
import type { Session } from '../../db/session.ts';
import type { DB } from '../../db/types.ts';
import type { App } from '../../deps.ts';
import { deriveNewFacts } from '../../facts/derive.ts';
import { DIMENSIONS, type DimensionValues } from '../../facts/dimensions.ts';
import { fromDatabase } from '../../lib/datetime.ts';
import { AMOUNT_COLUMNS, PURCHASE_COLUMNS, RECORD_COLUMNS } from '../../purchases/columns.ts';
import type { Amounts } from '../../purchases/pricing.ts';
import type { TransactionRecord } from '../../purchases/record.ts';
import { type Chain, chainRelation, claimChains } from '../../purchases/write.ts';
import { chainName } from './record.ts';

/** A record with everything needed to write it. */
export interface Priced {
  position: number;
  profile_id: string;
  chain: string;
  transaction: TransactionRecord;
  amounts: Amounts;
}

/** Returns the chains of the records; each belongs to the profile of its first record. */
function chainsOf(priced: readonly Priced[]): Chain[] {
  const chains = new Map<string, Chain>();
  for (const { profile_id, chain, transaction } of priced) {
    const { store, store_original_transaction_id } = transaction;
    if (!chains.has(chain)) chains.set(chain, { profile_id, store, store_original_transaction_id });
  }
  return [...chains.values()];
}

/** Keeps the last of several records with the same transaction id. */
function lastOfEach(priced: readonly Priced[]): readonly Priced[] {
  const ids = new Set(priced.map(({ transaction }) => transaction.store_transaction_id));
  // Nearly always true, even with several stores.
  if (ids.size === priced.length) return priced;
  const last = new Map<string, Priced>();
  for (const one of priced) {
    last.set(`${one.chain.length} ${one.chain} ${one.transaction.store_transaction_id}`, one);
  }
  return [...last.values()];
}

/**
 * Returns a few of the records as a relation: together, they name every store, product, offer and placement that any
 * record names.
 */
function dimensionValuesOf(priced: readonly Priced[]): DimensionValues {
  const groups = DIMENSIONS.map((names) => ({ names, seen: new Set<string>() }));
  const naming = priced.filter(({ transaction }, index) => {
    const before = priced[index - 1]?.transaction;
    let isNaming = false;
    for (const { names, seen } of groups) {
      // Records of a chain are adjacent, and comparing two is faster than a lookup.
      if (before && names.every((name) => transaction[name] === before[name])) continue;
      const { size } = seen;
      let tuple = '';
      // Records hold no empty strings, so '' stands for an absent value alone; `null` could be mistaken for a text.
      for (const name of names) tuple += `${transaction[name] ?? ''}\u0000`;
      isNaming = seen.add(tuple).size > size || isNaming;
    }
    return isNaming;
  });
  const names = DIMENSIONS.flat();
  const columns = names.map((name) => sql`${naming.map(({ transaction }) => transaction[name])}::text[]`);
  return sql`(select * from unnest(${sql.join(columns)}) as t (${sql.join(names.map((name) => sql.ref(name)))}))`;
}

const COLUMNS = [
  ['app_id', 'uuid'],
  ['profile_id', 'uuid'],
  ['purchase_id', 'uuid'],
  ['recorded_at', 'timestamptz'],
  ...PURCHASE_COLUMNS,
] as const satisfies CopyColumn[];

/**
 * Yields the same array for every row: new ones made up a seventh of the garbage of an import. Supplies purchase_id and
 * recorded_at, because their defaults would be computed row by row and keep COPY from writing whole pages.
 */
function* toRows(app: App, priced: readonly Priced[], recordedAt: string): Generator<readonly CopyValue[]> {
  const row: CopyValue[] = COLUMNS.map(() => null);
  for (const { profile_id, transaction, amounts } of priced) {
    let place = 0;
    for (const value of [app.app_id, profile_id, randomUUID(), recordedAt]) row[place++] = value;
    for (const name of RECORD_COLUMNS) row[place++] = transaction[name];
    for (const name of AMOUNT_COLUMNS) row[place++] = amounts[name];
    yield row;
  }
}

async function readClock(trx: Kysely<DB>): Promise<string> {
  const { rows } = await sql<{ at: string }>`select clock_timestamp() as at`.execute(trx);
  return fromDatabase((rows[0] as { at: string }).at);
}

/**
 * Writes the transactions whose chains are new, with their facts. Returns how many, and the others, which it leaves
 * unwritten.
 */
export async function writeNewChains(
  trx: Kysely<DB>,
  session: Session,
  { app, priced, onCopied }: { app: App; priced: readonly Priced[]; onCopied: () => void },
): Promise<{ copied: number; others: Priced[] }> {
  if (priced.length === 0) return { copied: 0, others: [] };
  const claimed = await claimChains(planningEachTime(trx), app, chainsOf(priced));
  const owners = new Map(claimed.map((chain) => [chainName(chain), chain.profile_id]));
  const isNew = ({ profile_id, chain }: Priced) => owners.get(chain) === profile_id;
  const copied = lastOfEach(priced.filter(isNew));
  if (copied.length > 0) {
    const rows = toRows(app, copied, await readClock(trx));
    await session.copy({ table: 'purchase', columns: COLUMNS }, rows);
    onCopied();
    await deriveNewFacts(trx, app, { chains: chainRelation(claimed), values: dimensionValuesOf(copied) });
  }
  return { copied: copied.length, others: priced.filter((one) => !isNew(one)) };
}
