// Configures an app's products and stores. Facts that do not have the configured duration of their product are derived
// again.
import { type Static, Type } from '@sinclair/typebox';
import type { Insertable, Kysely } from 'kysely';
import { inTransaction } from '../db/transactions.ts';
import type { DB, Product } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import type { FieldError } from '../errors.ts';
import { DURATIONS } from '../facts/codes.ts';
import { lockProducts } from '../facts/product-lock.ts';
import { rederiveProduct, rederiveProducts } from '../facts/rederive.ts';
import { STORE_LENGTH } from '../facts/values.ts';
import { raiseVersion } from '../facts/version.ts';
import { compileCheck } from '../http/ajv.ts';
import { lengthOf } from '../lib/text.ts';
import { NullableText, OneOf, Text } from '../lib/typebox.ts';
import { OperatorError } from '../operator-error.ts';
import {
  deleteProduct,
  listAccessLevelsOf,
  listProductsOf,
  listStoreSettingsOf,
  upsertProducts,
  upsertStoreSetting,
} from './queries.ts';
import { getApp } from './service.ts';

const PER_STATEMENT = 1_000;

const NewProduct = Type.Object(
  {
    store: Text(STORE_LENGTH, { minLength: 1 }),
    store_product_id: Text(255, { minLength: 1 }),
    duration: OneOf(DURATIONS),
    access_level_id: Type.Optional(NullableText(255)),
    is_consumable: Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })),
  },
  { additionalProperties: false },
);

export type NewProduct = Static<typeof NewProduct>;

const checkProduct = compileCheck(NewProduct);

/** Reads products from the text of a file: a JSON array, whose entries are checked when they are configured. */
export function parseProducts(json: string): NewProduct[] {
  let entries: unknown;
  try {
    entries = JSON.parse(json);
  } catch (error) {
    throw new OperatorError(`The file is not JSON: ${(error as Error).message}.`);
  }
  if (!Array.isArray(entries)) throw new OperatorError('The file must hold a JSON array of products.');
  return entries as NewProduct[];
}

function describeFault({ source, message }: FieldError): string {
  return source === 'non_field_errors' ? `: ${message}` : `, ${source}: ${message}`;
}

function nameOf({ store, store_product_id }: Pick<NewProduct, 'store' | 'store_product_id'>): string {
  return `${store_product_id} of ${store}`;
}

function refuseWrongProducts(products: readonly NewProduct[]): void {
  const seen = new Set<string>();
  for (const [index, product] of products.entries()) {
    const [fault] = checkProduct(product);
    if (fault) throw new OperatorError(`Product ${index + 1}${describeFault(fault)}`);
    const key = JSON.stringify([product.store, product.store_product_id]);
    if (seen.has(key)) throw new OperatorError(`Product ${index + 1} is a duplicate: ${nameOf(product)}.`);
    seen.add(key);
  }
}

async function refuseUnknownLevels(trx: Kysely<DB>, appId: string, products: readonly NewProduct[]): Promise<void> {
  const known = (await listAccessLevelsOf(trx, appId)).map(({ access_level_id }) => access_level_id);
  const unknown = products.map(({ access_level_id }) => access_level_id).find((id) => id && !known.includes(id));
  if (unknown) throw new OperatorError(`There is no access level ${unknown}; add it first.`);
}

function toRow(appId: string, product: NewProduct): Insertable<Product> {
  return {
    app_id: appId,
    store: product.store,
    store_product_id: product.store_product_id,
    duration: product.duration,
    access_level_id: product.access_level_id || null,
    is_consumable: product.is_consumable ?? false,
  };
}

/**
 * Configures products, replacing each as a whole: all of them or, if one is wrong, none. Then derives again the facts
 * that do not match the configuration: of these products, or of others whose derivation was interrupted.
 */
export async function configureProducts(
  { db }: Pick<Deps, 'db'>,
  appId: string,
  products: readonly NewProduct[],
): Promise<void> {
  const app = await getApp({ db }, appId);
  refuseWrongProducts(products);
  const rows = products.map((product) => toRow(app.app_id, product));
  await inTransaction(db, async (trx) => {
    await lockProducts(trx, app.app_key);
    await refuseUnknownLevels(trx, app.app_id, products);
    for (let from = 0; from < rows.length; from += PER_STATEMENT) {
      await upsertProducts(trx, rows.slice(from, from + PER_STATEMENT));
    }
  });
  await rederiveProducts(db, app);
}

/**
 * Removes the configuration of a product. Its transactions stay: they no longer open anything, and their facts are
 * derived again, as for a product that was never configured. If interrupted, the next call finishes it. Returns whether
 * the product was configured.
 */
export async function removeProduct(
  { db }: Pick<Deps, 'db'>,
  appId: string,
  product: Pick<NewProduct, 'store' | 'store_product_id'>,
): Promise<boolean> {
  const app = await getApp({ db }, appId);
  const isRemoved = await inTransaction(db, async (trx) => {
    await lockProducts(trx, app.app_key);
    return deleteProduct(trx, { app_id: app.app_id, ...product });
  });
  const derived = await rederiveProduct(db, app, product);
  if (!isRemoved && derived === 0) {
    throw new OperatorError(`There is no product ${nameOf(product)}; see \`sps product list\`.`);
  }
  return isRemoved;
}

export async function listProducts(deps: Pick<Deps, 'db'>, appId: string) {
  const { app_id } = await getApp(deps, appId);
  return (await listProductsOf(deps.db, app_id)).map(({ app_id: _, ...product }) => product);
}

export interface StoreInput {
  store: string;
  /** A fraction, as decimal text. */
  commission?: string;
  title?: string;
}

/** Sets what is given. Amounts already recorded stay as they are. */
export async function setStore(deps: Pick<Deps, 'db'>, appId: string, input: StoreInput): Promise<void> {
  const { app_id, app_key } = await getApp(deps, appId);
  const { store, commission, title } = input;
  if (store === '' || lengthOf(store) > STORE_LENGTH) {
    throw new OperatorError(`A store id must have 1 to ${STORE_LENGTH} characters.`);
  }
  if (commission === undefined && title === undefined) throw new OperatorError('Give a commission, a title or both.');
  if (commission !== undefined && !/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/.test(commission)) {
    throw new OperatorError('A commission must be a fraction from 0 to 1, such as 0.15.');
  }
  if (title !== undefined && (title.trim() === '' || lengthOf(title) > 100)) {
    throw new OperatorError('A title must have 1 to 100 characters.');
  }
  await inTransaction(deps.db, async (trx) => {
    await upsertStoreSetting(trx, { app_id, ...input });
    await raiseVersion(trx, app_key);
  });
}

/** Lists the stores for which something was set; a null commission or title means the default. */
export async function listStores(deps: Pick<Deps, 'db'>, appId: string) {
  const { app_id } = await getApp(deps, appId);
  return (await listStoreSettingsOf(deps.db, app_id)).map(({ app_id: _, ...store }) => store);
}
