// Histories by which totals and columns get into every state: each ends with what the world has, told in another order.
import { expect } from 'vitest';
import { configureProducts, removeProduct } from '../../src/apps/catalogue.ts';
import { relabelBatch } from '../../src/facts/relabel.ts';
import { refreshMoves, refreshTotals } from '../../src/facts/totals.ts';
import { deleteProfile } from '../profile/world.ts';
import { setTransaction } from '../purchases/world.ts';
import { completeColumns, completeTotals, refreshInstallMonth, refreshSomeMonths, relabelAll } from './background.ts';
import { PRODUCTS } from './histories.ts';
import { type Home, importProfiles, importTransactions } from './import.ts';
import type { World } from './oracle-facts.ts';

/** Returns the transactions with every other one in an earlier state: another price, not refunded, never cancelled. */
function before(transactions: World['transactions']): object[] {
  return transactions.map((transaction, i) => {
    if (i % 2 === 0) return transaction;
    const { refunded_at: _, cancellation_reason: __, ...rest } = transaction;
    return { ...rest, price: { ...rest.price, country: 'FR' } };
  });
}

/** Returns the profiles, with an earlier, different attribution for those that have one. */
function labelledBefore(profiles: World['profiles']): object[] {
  return profiles.map(({ attribution, ...profile }, i) => ({
    ...profile,
    ...(attribution && { attribution: { status: 'organic', channel: i % 2 === 0 ? 'before' : 'social' } }),
  }));
}

/** Returns the profiles, with an attribution that differs only in its campaign for those that have one. */
function labelledBetween(profiles: World['profiles']): object[] {
  return profiles.map(({ attribution, ...profile }) => ({
    ...profile,
    ...(attribution && { attribution: { ...attribution, campaign: 'between' } }),
  }));
}

/** Returns every other profile in an earlier state: without a label, installed elsewhere and in another month. */
function installedBefore(profiles: World['profiles']): object[] {
  return profiles.map((profile, i) => {
    const { attribution: _, ...rest } = profile;
    const elsewhere = { ...(rest.country && { country: 'FR' }), ...(rest.store && { store: 'stripe' }) };
    return i % 2 === 0 ? profile : { ...rest, ...elsewhere, installed_at: '2024-11-20T12:00:00Z' };
  });
}

/** Returns the first quarter of the profiles. */
const someOf = (profiles: World['profiles']) => profiles.slice(0, Math.ceil(profiles.length / 4));

/** Returns the transactions with each chain belonging to another of the profiles, if there are several. */
function ownedByOthers({ profiles, transactions }: World): object[] {
  const customers = profiles.map(({ customer_user_id }) => customer_user_id);
  return transactions.map((transaction) => {
    const next = (customers.indexOf(transaction.customer_user_id) + 1) % customers.length;
    return { ...transaction, customer_user_id: customers[next] };
  });
}

/** Returns one transaction of each chain. */
function lastOfChains({ transactions }: World): World['transactions'] {
  const chains = transactions.map((one) => [`${one.store} ${one.store_original_transaction_id}`, one] as const);
  return [...new Map(chains).values()];
}

/** Sets the transactions over HTTP. */
async function setAll(home: Home, transactions: World['transactions']): Promise<void> {
  for (const { customer_user_id, ...body } of transactions)
    expect(await setTransaction(home, customer_user_id, body)).toMatchObject({ status: 200 });
}

async function deleteAll(home: Home, profiles: World['profiles']): Promise<void> {
  for (const { customer_user_id: customer } of profiles)
    expect(await deleteProfile(home, { customer })).toMatchObject({ status: 204 });
}

/** The products with other durations, and one more. */
const PRODUCTS_BEFORE = [
  ...PRODUCTS.map((product, i) => ({ ...product, duration: PRODUCTS.at(i - 1)!.duration })),
  { store: 'app_store', store_product_id: 'unconfigured', duration: 'Annual' as const },
];

export const STATES = {
  async complete(home, { transactions }) {
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
  },
  async 'complete, and in columns'(home, { transactions }) {
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await completeColumns(home.deps.db);
  },
  async 'in columns of some months'(home, { transactions }) {
    await importTransactions(home, transactions.slice(0, Math.ceil(transactions.length / 2)));
    await completeTotals(home.deps.db);
    await refreshSomeMonths(home.deps.db);
    await importTransactions(home, transactions);
    await refreshTotals(home.deps.db, Math.ceil(transactions.length / 4));
  },
  async 'in columns that are out of date'(home, { transactions }) {
    await importTransactions(home, before(transactions));
    await completeTotals(home.deps.db);
    await completeColumns(home.deps.db);
    await importTransactions(home, transactions);
    await refreshTotals(home.deps.db, Math.ceil(transactions.length / 4));
  },
  async 'in columns to which changes were appended'(home, { transactions }) {
    await importTransactions(home, before(transactions));
    await completeTotals(home.deps.db);
    await completeColumns(home.deps.db);
    for (const newer of [transactions, before(transactions), transactions]) {
      await importTransactions(home, newer);
      await completeTotals(home.deps.db);
      await refreshSomeMonths(home.deps.db);
    }
  },
  async 'in columns of earlier labels, some of which were replaced in the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await completeColumns(home.deps.db);
    await importProfiles(home, someOf(profiles));
    await relabelAll(home.deps.db);
    await completeTotals(home.deps.db);
    await importProfiles(home, profiles);
  },
  async 'in columns that were built while labels were written to the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await importProfiles(home, someOf(profiles));
    await relabelAll(home.deps.db);
    await refreshMoves(home.deps.db);
    await importProfiles(home, profiles);
    await relabelAll(home.deps.db);
    await completeColumns(home.deps.db);
  },
  async 'of installs in columns, some changed together with their labels, and some changes appended'(
    home,
    { profiles, transactions },
  ) {
    await importProfiles(home, installedBefore(profiles));
    await completeColumns(home.deps.db);
    await importProfiles(home, profiles.slice(0, Math.ceil(profiles.length / 2)));
    await refreshInstallMonth(home.deps.db);
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await importProfiles(home, profiles);
    await relabelBatch(home.deps.db);
    await importProfiles(home, profiles.slice(0, 1));
  },
  async 'of installs in columns of some months'(home, { profiles, transactions }) {
    await importProfiles(home, installedBefore(profiles));
    await refreshInstallMonth(home.deps.db);
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await importProfiles(home, profiles);
  },
  async 'half built'(home, { transactions }) {
    await importTransactions(home, transactions);
    await refreshTotals(home.deps.db, Math.ceil(transactions.length / 2));
  },
  async 'out of date'(home, { transactions }) {
    await importTransactions(home, before(transactions));
    await completeTotals(home.deps.db);
    await importTransactions(home, transactions);
  },
  async 'brought up to date'(home, { transactions }) {
    await importTransactions(home, before(transactions));
    await completeTotals(home.deps.db);
    await importTransactions(home, transactions);
    await refreshTotals(home.deps.db, 3);
    await importTransactions(home, before(transactions));
    await completeTotals(home.deps.db);
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
  },
  async 'of earlier labels'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await importProfiles(home, profiles);
  },
  async 'of labels that changed twice since'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await importProfiles(home, labelledBetween(profiles));
    await importProfiles(home, profiles);
  },
  async 'of labels that changed and changed back'(home, { profiles, transactions }) {
    await importProfiles(home, profiles);
    await importTransactions(home, transactions);
    await relabelAll(home.deps.db);
    await completeTotals(home.deps.db);
    await importProfiles(home, labelledBefore(profiles));
    await importProfiles(home, profiles);
  },
  async 'of labels that changed again while some were written to the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await importProfiles(home, profiles);
    await importProfiles(home, labelledBetween(profiles));
    await relabelBatch(home.deps.db, 2);
    await importProfiles(home, profiles);
    await relabelBatch(home.deps.db, 1);
  },
  async 'of earlier labels, some of which were replaced in the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await importProfiles(home, someOf(profiles));
    await relabelAll(home.deps.db);
    await importProfiles(home, profiles);
  },
  async 'of labels that were written to facts which changed later'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, before(transactions));
    await completeTotals(home.deps.db);
    await importProfiles(home, someOf(profiles));
    await relabelAll(home.deps.db);
    await refreshMoves(home.deps.db);
    await importProfiles(home, profiles);
    await relabelAll(home.deps.db);
    await importTransactions(home, transactions);
    await refreshTotals(home.deps.db, Math.ceil(transactions.length / 4));
  },
  async 'of labels that were written to the facts'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await importProfiles(home, profiles);
    await relabelAll(home.deps.db);
    await completeTotals(home.deps.db);
  },
  async 'of chains that belonged to other profiles'(home, world) {
    await importTransactions(home, ownedByOthers(world));
    await completeTotals(home.deps.db);
    await completeColumns(home.deps.db);
    const chains = lastOfChains(world);
    const half = Math.ceil(chains.length / 2);
    await setAll(home, chains.slice(0, half));
    await completeTotals(home.deps.db);
    await refreshSomeMonths(home.deps.db);
    await setAll(home, chains.slice(half));
    await refreshTotals(home.deps.db, half);
  },
  async 'of products that were configured differently'(home, { transactions }) {
    await configureProducts(home.deps, home.app.app_id, PRODUCTS_BEFORE);
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await completeColumns(home.deps.db);
    await configureProducts(home.deps, home.app.app_id, PRODUCTS);
    await refreshTotals(home.deps.db, Math.ceil(transactions.length / 4));
    await refreshSomeMonths(home.deps.db);
    await removeProduct(home.deps, home.app.app_id, { store: 'app_store', store_product_id: 'unconfigured' });
  },
  async 'of earlier labels of profiles that were deleted'(home, { profiles, transactions }) {
    await importProfiles(home, labelledBefore(profiles));
    await importTransactions(home, transactions);
    await completeTotals(home.deps.db);
    await completeColumns(home.deps.db);
    await importProfiles(home, profiles);
    await deleteAll(home, someOf(profiles));
    await relabelBatch(home.deps.db);
    await deleteAll(home, profiles.slice(someOf(profiles).length));
  },
} satisfies Record<string, (home: Home, world: World) => Promise<void>>;
