// The made-up app: its products and its access level.
import { configureProducts } from '../../src/apps/catalogue.ts';
import { addAccessLevel, createApp } from '../../src/apps/service.ts';
import type { Session } from '../../src/db/session.ts';
import type { App } from '../../src/deps.ts';
import { PRODUCTS } from './vocabulary.ts';

const ACCESS_LEVEL = 'premium';
const TIMEZONE = 'Europe/Berlin';
const STORES = ['app_store', 'play_store', 'stripe'];

/** Creates the made-up app as in a new installation: its products are configured, and nothing has been bought yet. */
export async function createBenchApp({ db }: Session): Promise<App> {
  const { app } = await createApp({ db }, { name: 'Benchmark', timezone: TIMEZONE });
  await addAccessLevel({ db }, app.app_id, ACCESS_LEVEL);
  const products = STORES.flatMap((store) =>
    PRODUCTS.map(({ store_product_id, duration, is_consumable }) => ({
      store,
      store_product_id,
      duration: duration as 'Weekly',
      is_consumable,
      access_level_id: ACCESS_LEVEL,
    })),
  );
  await configureProducts({ db }, app.app_id, products);
  return app;
}
