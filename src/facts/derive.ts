// Writes the facts of transactions, with the same statements for a single transaction as for a million.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { fixed, fixedAssignments, fixedColumns } from '../db/fixed.ts';
import { type Execute, planningEachTime } from '../db/prepared.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import { datedFacts } from './chains.ts';
import { countryOf, DIMENSIONS, type DimensionValues, ensureDimensions } from './dimensions.ts';
import { hiddenApp } from './hidden-app.ts';
import { RETIRE_CHANGED } from './retire.ts';
import { zoneRelation } from './zone-relation.ts';

/** A query in parentheses with a row per chain: profile_id, store, store_original_transaction_id. */
export type Chains = RawBuilder<unknown>;

/** The instants of a fact, and the column that holds the day of each. */
const DAY_OF = {
  purchased_at: 'purchased_day',
  active_until: 'active_until_day',
  lapse_at: 'lapse_day',
  refunded_at: 'refunded_day',
  renewal_cancelled_at: 'renewal_cancelled_day',
  grace_at: 'grace_day',
  billing_issue_at: 'billing_issue_day',
} as const;

/** The columns that a fact takes from the install of its profile. */
const OF_INSTALL = ['app_key', 'installed_at', 'installed_day', 'attribution_key'];

const DERIVED = [
  ...Object.keys(DAY_OF),
  ...Object.values(DAY_OF),
  ...['installed_at', 'installed_day'],
  ...['revenue', 'proceeds', 'net', 'monthly_revenue', 'monthly_proceeds', 'monthly_net'],
  ...['store_key', 'product_key', 'placement_key', 'offer_key', 'attribution_key', 'country_key'],
  ...['period', 'duration', 'renewal_status', 'cancellation_reason'],
];

const COLUMNS = fixedColumns(DERIVED);
const ASSIGNMENTS = fixedAssignments(DERIVED);
const DAYS = fixed(
  sql.join(
    Object.entries(DAY_OF).map(
      ([instant, day]) => sql`local_day(${sql.ref(`f.${instant}`)}, z.changes_at, z.offsets_s) as ${sql.ref(day)}`,
    ),
  ),
);
const IS_DIFFERENT = fixed(sql`old.app_key is null
  or (${fixedColumns(DERIVED, 'old.')}) is distinct from (${fixedColumns(DERIVED, 'derived.')})`);

const BOUGHT = fixedColumns(DIMENSIONS.flat(), 'p.');

const IS_COUNTED = sql`environment = 'Production' and not is_family_shared`;

/** Returns part of a `from` clause: the transactions `p` of the chains in `touched`, with their `app`. */
function purchasesOf(app: App, touched: Chains, where = sql`true`): RawBuilder<unknown> {
  return sql`${hiddenApp(app)} cross join ${touched} touched
    cross join lateral (
      select * from purchase
      where app_id = app.app_id and profile_id = touched.profile_id and store = touched.store
        and store_original_transaction_id = touched.store_original_transaction_id and ${where}
      offset 0) p`;
}

function dimensionValuesOf(app: App, chains: Chains): DimensionValues {
  return sql`(select distinct ${BOUGHT} from ${purchasesOf(app, chains)})`;
}

/**
 * Returns the condition that joins a relation of tuples to the facts `f`. Tuples are found by their number and then
 * compared, as several may have the same number. To the planner, plain comparisons would look like so many rare
 * coincidences that it would expect a single fact, and look up everything else fact by fact. It cannot estimate a
 * `case`.
 */
function isSameTuple(relation: string, names: readonly string[]): RawBuilder<unknown> {
  const columns = (prefix: string) => names.map((name) => sql.ref(`${prefix}.${name}`));
  const [ones, others] = [columns(relation), columns('f')];
  const same = ones.map((one, i) => sql`${one} is not distinct from ${others[i]}`);
  return sql`tuple_number(${sql.join(ones)}) = tuple_number(${sql.join(others)})
    and case when ${sql.join(same, sql` and `)} then true end`;
}

const TUPLES = fixed(sql`
  join dim_offer on ${isSameTuple('dim_offer', ['offer_category', 'offer_type', 'offer_id'])}
  join dim_placement on ${isSameTuple('dim_placement', ['paywall_id', 'audience_id', 'placement_id'])}`);
const DATED_FACTS = fixed(sql`${datedFacts(OF_INSTALL)} offset 0`);
const COUNTRY = fixed(countryOf('f.price_country'));
const INSTALL = fixedColumns(OF_INSTALL, 'install.');
const OF_CHAIN = fixedColumns(OF_INSTALL, 'touched.');

/**
 * Returns subqueries that remove the facts of the purchases in a relation. Images of those that the totals contain stay
 * behind, to be taken off.
 */
function removing(app: App, purchases: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    gone as (
      delete from fact_transaction f using ${hiddenApp(app)} cross join ${purchases} p
      where f.app_key = app.app_key and f.profile_id = p.profile_id and f.purchase_no = p.purchase_no
      returning f.*
    ), untotalled as (
      delete from fact_pending w using gone
      where w.app_key = gone.app_key and w.profile_id = gone.profile_id and w.purchase_no = gone.purchase_no
      returning w.purchase_no
    ), taken_off as (
      insert into fact_retired
      select * from gone where purchase_no not in (select purchase_no from untotalled)
    )`;
}

/** Removes the facts of these purchases, a relation (profile_id, purchase_no). */
export async function removeFacts(execute: Execute, app: App, purchases: RawBuilder<unknown>): Promise<void> {
  await execute(sql`with ${removing(app, purchases)} select`);
}

/** Selects the transactions of the chains `touched` that have become sandbox or family-shared and no longer count. */
function uncounted(app: App): RawBuilder<unknown> {
  return sql`(select p.profile_id, p.purchase_no from ${purchasesOf(app, sql`touched`, sql`not (${IS_COUNTED})`)})`;
}

/**
 * Returns subqueries, the last of which, `derived`, selects the facts of these chains. Their `offset 0` also makes the
 * planner expect at least as many rows as chains; from plain joins it would expect a single row, and would compare
 * every transaction with every product and every offer. The install is looked up once per chain, because looking it up
 * for each fact took a tenth of the time.
 */
function derivedFacts(app: App, chains: Chains): RawBuilder<unknown> {
  return sql`
    with touched as ${chains}, installed as (
      select touched.*, ${INSTALL}
      from ${hiddenApp(app)} cross join touched
      cross join lateral (
        select * from fact_install where app_key = app.app_key and profile_id = touched.profile_id offset 0) install
      offset 0
    ), counted as (
      select p.*, product.duration as configured_duration, ${OF_CHAIN}
      from ${purchasesOf(app, sql`installed`, IS_COUNTED)}
      left join product on product.app_id = ${app.app_id} and product.store = p.store
        and product.store_product_id = p.store_product_id
    ), named as (
      select f.*, dim_store.store_key, dim_product.product_key, dim_country.country_key
      from (${DATED_FACTS}) f
      join dim_store on dim_store.store = f.store
      join dim_product on dim_product.store_product_id = f.store_product_id
      join dim_country on dim_country.country = ${COUNTRY}
      offset 0
    ), derived as (
      select f.*, ${DAYS}, dim_placement.placement_key, dim_offer.offer_key
      from named f
      cross join ${zoneRelation(app.timezone)} z
      ${TUPLES}
      offset 0
    )`;
}

/**
 * Derives the facts of these chains again and writes those that differ. The caller holds the locks of their profiles;
 * otherwise two writers of one chain could each derive it without the other's transaction. Both statements go to one
 * connection, which runs them in the order in which they were sent, so facts are written after their dimensions.
 */
export async function deriveFacts(execute: Execute, app: App, chains: Chains): Promise<void> {
  const writeFacts = sql`
    ${derivedFacts(app, chains)}, changed as materialized (
      select derived.* from derived
      left join lateral (
        select * from fact_transaction
        where app_key = derived.app_key and profile_id = derived.profile_id and purchase_no = derived.purchase_no
        offset 0) old on true
      where ${IS_DIFFERENT}
    ), ${removing(app, uncounted(app))}, ${RETIRE_CHANGED}
    insert into fact_transaction (app_key, profile_id, purchase_no, ${COLUMNS})
    select app_key, profile_id, purchase_no, ${COLUMNS} from changed
    on conflict (app_key, profile_id, purchase_no) do update set ${ASSIGNMENTS}`;
  await Promise.all([ensureDimensions(execute, dimensionValuesOf(app, chains)), execute(writeFacts)]);
}

/** Writes the facts of chains that the caller has just created and that have none. */
export async function deriveNewFacts(
  trx: Kysely<DB>,
  app: App,
  { chains, values }: { chains: Chains; values: DimensionValues },
): Promise<void> {
  await ensureDimensions(planningEachTime(trx), values);
  await sql`
    ${derivedFacts(app, chains)}, written as (
      insert into fact_transaction (app_key, profile_id, purchase_no, ${COLUMNS})
      select app_key, profile_id, purchase_no, ${COLUMNS} from derived
      returning app_key, profile_id, purchase_no
    )
    insert into fact_pending (app_key, profile_id, purchase_no)
    select app_key, profile_id, purchase_no from written`.execute(trx);
}
