// sps store: an app's settings for a store.
import type { Command } from 'commander';
import { listStores, setStore } from '../apps/catalogue.ts';
import { appOption } from './options.ts';
import type { Perform } from './perform.ts';
import { formatTable } from './table.ts';

interface SetOptions {
  app: string;
  store: string;
  commission?: string;
  title?: string;
}

export function addCommands(program: Command, perform: Perform): void {
  const store = program.command('store').description('manage the store settings of an app');

  store
    .command('set')
    .description('set the commission of a store, for transactions recorded from now on, and its title in charts')
    .addOption(appOption())
    .requiredOption('--store <store>', 'app_store, play_store, stripe or a store id of your own')
    .option('--commission <fraction>', "the store's share of the price, such as 0.15")
    .option('--title <title>', 'title of the store in charts')
    .action(({ app, ...settings }: SetOptions) =>
      perform(async ({ deps }) => {
        await setStore(deps, app, settings);
        return { answer: settings, text: `Set ${settings.store}.` };
      }),
    );

  store
    .command('list')
    .description('list the stores that have settings; all others use the defaults')
    .addOption(appOption())
    .action(({ app }: { app: string }) =>
      perform(async ({ deps }) => {
        const stores = await listStores(deps, app);
        return { answer: { stores }, text: formatTable(stores, ['store', 'commission', 'title']) };
      }),
    );
}
