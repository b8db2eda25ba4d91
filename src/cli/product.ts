// sps product: the products that an app has configured.
import type { Command } from 'commander';
import { configureProducts, listProducts, type NewProduct, parseProducts, removeProduct } from '../apps/catalogue.ts';
import { DURATIONS } from '../facts/codes.ts';
import { counted } from '../lib/counted.ts';
import { appOption, choice } from './options.ts';
import type { Perform } from './perform.ts';
import { readText } from './read-text.ts';
import { formatMembers, formatTable } from './table.ts';

interface Named {
  app: string;
  store: string;
  product: string;
}

interface AddOptions extends Named {
  duration: NewProduct['duration'];
  accessLevel?: string;
  consumable?: boolean;
}

function named(command: Command): Command {
  return command
    .addOption(appOption())
    .requiredOption('--store <store>', 'app_store, play_store, stripe or a store id of your own')
    .requiredOption('--product <id>', "the product's id in the store");
}

export function addCommands(program: Command, perform: Perform): void {
  const product = program.command('product').description('manage the products of an app');

  named(product.command('add').description('configure a product, or replace its configuration'))
    .addOption(
      choice(
        '--duration <duration>',
        'length of the subscription period; Lifetime for a one-time purchase',
        DURATIONS,
      ).makeOptionMandatory(),
    )
    .option('--access-level <id>', 'access level that a purchase opens')
    .option('--consumable', 'a one-time purchase that can be used up and opens no access level')
    .action((options: AddOptions) =>
      perform(async ({ deps }) => {
        const answer = {
          store: options.store,
          store_product_id: options.product,
          duration: options.duration,
          access_level_id: options.accessLevel ?? null,
          is_consumable: options.consumable ?? false,
        };
        await configureProducts(deps, options.app, [answer]);
        return { answer, text: formatMembers(answer) };
      }),
    );

  product
    .command('import')
    .description(
      'configure products from a JSON array of {store, store_product_id, duration, access_level_id?, is_consumable?}',
    )
    .argument('<file>')
    .addOption(appOption())
    .action((file: string, { app }: { app: string }) =>
      perform(async ({ deps }) => {
        const products = parseProducts(await readText(file));
        await configureProducts(deps, app, products);
        return {
          answer: { written: products.length },
          text: `Configured ${counted(products.length, 'product', 'products')}.`,
        };
      }),
    );

  named(
    product
      .command('remove')
      .description('remove the configuration of a product; its transactions stay, but no longer open an access level'),
  ).action(({ app, store, product: store_product_id }: Named) =>
    perform(async ({ deps }) => {
      const key = { store, store_product_id };
      const was_configured = await removeProduct(deps, app, key);
      const text = was_configured
        ? `Removed ${store_product_id} of ${store}.`
        : `${store_product_id} of ${store} was no longer configured; its remaining facts have been derived again.`;
      return { answer: { ...key, was_configured }, text };
    }),
  );

  product
    .command('list')
    .description('list the products')
    .addOption(appOption())
    .action(({ app }: { app: string }) =>
      perform(async ({ deps }) => {
        const products = await listProducts(deps, app);
        const columns = ['store', 'store_product_id', 'duration', 'access_level_id', 'is_consumable'] as const;
        return { answer: { products }, text: formatTable(products, columns) };
      }),
    );
}
