// Writes transactions from a staged relation, with the same statements for one record as for a batch of an import.
import { type RawBuilder, sql } from 'kysely';
import { fixed, fixedAssignments, fixedColumns } from '../db/fixed.ts';
import type { Execute } from '../db/prepared.ts';
import type { App } from '../deps.ts';
import { deriveFacts, removeFacts } from '../facts/derive.ts';
import { hiddenApp } from '../facts/hidden-app.ts';
import { AMOUNT_COLUMNS, RECORD_COLUMNS, STAGED_COLUMNS, type StagedTransaction } from './columns.ts';
import { PRICING_COLUMNS } from './pricing.ts';
import type { TransactionRecord } from './record.ts';

/** A table or subquery with STAGED_COLUMNS, whose profiles the caller has locked in the order of profile_id. */
export type Staged = RawBuilder<unknown>;

const KEY = ['store', 'store_original_transaction_id', 'store_transaction_id'];
const WRITTEN = [...RECORD_COLUMNS, ...AMOUNT_COLUMNS];

const DEFINITION = fixed(sql.join(STAGED_COLUMNS.map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`)));
const KEY_COLUMNS = fixedColumns(KEY);
const COLUMNS = fixedColumns(WRITTEN);
const RECORD_ASSIGNMENTS = fixedAssignments(RECORD_COLUMNS.filter((name) => !KEY.includes(name)));
const IS_CHANGED = fixed(
  sql`(${fixedColumns(RECORD_COLUMNS, 'old.')}) is distinct from (${fixedColumns(RECORD_COLUMNS, 'excluded.')})`,
);
const MOVED = fixedColumns(['purchase_no', 'purchase_id', ...WRITTEN, 'recorded_at']);

/**
 * An expression: whether two rows, given by their prefixes, agree in everything that determines the amounts of a
 * record.
 */
export function isPricedAlike(one: string, other: string): RawBuilder<unknown> {
  const givenIn = (prefix: string) =>
    sql`(${fixedColumns(PRICING_COLUMNS, prefix)}, (${sql.ref(`${prefix}purchased_at`)} at time zone 'UTC')::date)`;
  return fixed(sql`${givenIn(one)} is not distinct from ${givenIn(other)}`);
}

const IS_PRICED_ALIKE = isPricedAlike('old.', 'excluded.');
const AMOUNT_ASSIGNMENTS = fixed(
  sql.join(
    AMOUNT_COLUMNS.map((name) => {
      const [old, excluded] = [sql.ref(`old.${name}`), sql.ref(`excluded.${name}`)];
      return sql`${sql.ref(name)} = case when ${IS_PRICED_ALIKE} then ${old} else ${excluded} end`;
    }),
  ),
);

/**
 * Staged transactions given as values, for requests: a temporary table would cost them more than it saves. Omitted
 * columns are null.
 */
export function stageValues(transactions: readonly (TransactionRecord & Partial<StagedTransaction>)[]): Staged {
  const json = JSON.stringify(transactions, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return sql`(select * from jsonb_to_recordset(${json}::jsonb) as given (${DEFINITION}))`;
}

export interface Chain {
  profile_id: string;
  store: string;
  store_original_transaction_id: string;
}

/** Chains as a relation; none may be named twice. */
export function chainRelation(chains: readonly Chain[]): RawBuilder<unknown> {
  const column = (name: keyof Chain) => chains.map((chain) => chain[name]);
  return sql`(select * from unnest(${column('profile_id')}::uuid[], ${column('store')}::text[],
    ${column('store_original_transaction_id')}::text[]) as t (profile_id, store, store_original_transaction_id))`;
}

/** Gives those of the chains that have no owner to the profiles they name, and returns them. */
export async function claimChains(execute: Execute, app: App, chains: readonly Chain[]): Promise<Chain[]> {
  return execute(sql<Chain>`
    insert into purchase_chain (app_id, store, store_original_transaction_id, profile_id)
    select ${app.app_id}::uuid, store, store_original_transaction_id, profile_id from ${chainRelation(chains)} given
    order by store, store_original_transaction_id
    on conflict (app_id, store, store_original_transaction_id) do nothing
    returning profile_id, store, store_original_transaction_id`);
}

/** Part of a `from` clause: staged transactions `s`, each with its chain `c`. */
export function withChains(app: App, staged: Staged): RawBuilder<unknown> {
  return sql`${hiddenApp(app)} cross join ${staged} s
    cross join lateral (
      select * from purchase_chain
      where app_id = app.app_id and store = s.store and store_original_transaction_id = s.store_original_transaction_id
      offset 0) c`;
}

/** A chain that a staged transaction brings to a profile other than its owner. */
interface ForeignChain extends Chain {
  owner_id: string;
  is_owner_deleted: boolean;
}

async function listForeignChains(execute: Execute, app: App, staged: Staged): Promise<ForeignChain[]> {
  return execute(sql<ForeignChain>`
    select distinct on (s.store, s.store_original_transaction_id) s.store, s.store_original_transaction_id, s.profile_id,
      owner.profile_id as owner_id, owner.deleted_at is not null as is_owner_deleted
    from ${withChains(app, staged)}
    join profile owner on owner.app_id = c.app_id and owner.profile_id = c.profile_id
    where c.profile_id <> s.profile_id
    order by s.store, s.store_original_transaction_id, position`);
}

/**
 * Moves a chain with its transactions to another profile. Rows are deleted and inserted, so that the tables can be
 * sharded by profile. Returns false if another transaction moved it first, which an import finds out only once it has
 * the owner's lock.
 */
async function moveChain(execute: Execute, app: App, chain: ForeignChain): Promise<boolean> {
  const { store, store_original_transaction_id, owner_id, profile_id } = chain;
  await execute(sql`select from profile where app_id = ${app.app_id} and profile_id = ${owner_id} for no key update`);
  const claimed = await execute(sql`
    update purchase_chain set profile_id = ${profile_id}
    where app_id = ${app.app_id} and store = ${store}
      and store_original_transaction_id = ${store_original_transaction_id} and profile_id = ${owner_id}
    returning profile_id`);
  if (claimed.length === 0) return false;
  await removeFacts(
    execute,
    app,
    sql`(select profile_id, purchase_no from purchase
      where app_id = ${app.app_id} and profile_id = ${owner_id} and store = ${store}
        and store_original_transaction_id = ${store_original_transaction_id})`,
  );
  await execute(sql`
    with gone as (
      delete from purchase
      where app_id = ${app.app_id} and profile_id = ${owner_id} and store = ${store}
        and store_original_transaction_id = ${store_original_transaction_id}
      returning ${MOVED}
    )
    insert into purchase (app_id, profile_id, ${MOVED})
    select ${app.app_id}, ${profile_id}, ${MOVED} from gone`);
  return true;
}

/** Whether a chain may move to another profile: those of deleted profiles may, and all of them if the app transfers. */
export function mayMove({ sharing }: App, isOwnerDeleted: boolean): boolean {
  return isOwnerDeleted || sharing === 'transfer';
}

async function moveChains(execute: Execute, app: App, foreign: readonly ForeignChain[]): Promise<Chain[]> {
  const moved: Chain[] = [];
  for (const chain of foreign) {
    if (mayMove(app, chain.is_owner_deleted) && (await moveChain(execute, app, chain))) moved.push(chain);
  }
  return moved;
}

async function listRefused(execute: Execute, app: App, staged: Staged): Promise<bigint[]> {
  const rows = await execute(sql<{ position: bigint }>`
    select position from ${withChains(app, staged)} where c.profile_id <> s.profile_id`);
  return rows.map(({ position }) => position);
}

/**
 * Inserts or replaces the transactions of chains that belong to their profile; of several with the same id, the last
 * counts. One priced like what was there keeps its amounts: otherwise they would depend on the earlier states of it
 * that a file contains. Returns a row for every transaction that is new or differs from what was there.
 */
async function upsertPurchases(execute: Execute, app: App, staged: Staged): Promise<Chain[]> {
  return execute(sql<Chain>`
    insert into purchase as old (app_id, profile_id, ${COLUMNS})
    select distinct on (profile_id, ${KEY_COLUMNS}) ${app.app_id}::uuid, profile_id, ${COLUMNS}
    from (select s.* from ${withChains(app, staged)} where c.profile_id = s.profile_id) own
    order by profile_id, ${KEY_COLUMNS}, position desc
    on conflict (app_id, profile_id, store, store_original_transaction_id, store_transaction_id)
      do update set ${RECORD_ASSIGNMENTS}, ${AMOUNT_ASSIGNMENTS}, recorded_at = clock_timestamp()
      where ${IS_CHANGED}
    returning profile_id, store, store_original_transaction_id`);
}

function nameOf({ profile_id, store, store_original_transaction_id }: Chain): string {
  return JSON.stringify([profile_id, store, store_original_transaction_id]);
}

function distinct(chains: readonly Chain[]): Chain[] {
  return [...new Map(chains.map((chain) => [nameOf(chain), chain])).values()];
}

/** Counts the transactions that changed: one for each row of `written`, and all that came with a chain that moved. */
async function countChanged(
  execute: Execute,
  staged: Staged,
  { written, moved }: Record<'written' | 'moved', readonly Chain[]>,
): Promise<number> {
  if (moved.length === 0) return written.length;
  const names = new Set(moved.map(nameOf));
  const rows = await execute(sql<{ brought: bigint }>`
    select count(distinct (profile_id, ${KEY_COLUMNS})) as brought
    from ${staged} s join ${chainRelation(moved)} chain using (profile_id, store, store_original_transaction_id)`);
  return written.filter((chain) => !names.has(nameOf(chain))).length + Number(rows[0]!.brought);
}

export interface WriteOutcome {
  /** Positions of transactions whose chain belongs to another living profile; they are not written. */
  refused: ReadonlySet<number>;
  /** How many transactions were new, differed from what was there, or moved to their profile. */
  written: number;
}

/**
 * Writes staged transactions, whose chains all have an owner, and their facts. Writing the same transactions again
 * changes nothing.
 */
export async function writeTransactions(execute: Execute, app: App, staged: Staged): Promise<WriteOutcome> {
  const foreign = await listForeignChains(execute, app, staged);
  const moved = await moveChains(execute, app, foreign);
  // All others belong to their profiles, which the caller has locked, and stay there: no need to check again.
  const refused = foreign.length === 0 ? [] : await listRefused(execute, app, staged);
  const written = await upsertPurchases(execute, app, staged);
  const touched = distinct([...moved, ...written]);
  if (touched.length > 0) await deriveFacts(execute, app, chainRelation(touched));
  return { refused: new Set(refused.map(Number)), written: await countChanged(execute, staged, { written, moved }) };
}

/**
 * Does the same for transactions of one chain, which cannot be taken from the profile meanwhile. Writes nothing if the
 * chain is another profile's. No statement waits for the one before, so facts are derived even if nothing has changed.
 */
export async function writeOwnChain(
  execute: Execute,
  app: App,
  { chain, staged }: { chain: Chain; staged: Staged },
): Promise<void> {
  await Promise.all([upsertPurchases(execute, app, staged), deriveFacts(execute, app, chainRelation([chain]))]);
}
