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
  const store = program.command('store').description('the stores of an app');

  store
    .command('set')
    .description('set the commission of a store (for what is recorded from now on) and how charts call it')
    .addOption(appOption())
    .requiredOption('--store <store>', 'app_store, play_store, stripe or a store id of your own')
    .option('--commission <fraction>', "the store's share of the price, such as 0.15")
    .option('--title <title>', 'what charts call the store')
    .action(({ app, ...settings }: SetOptions) =>
      perform(async ({ deps }) => {
        await setStore(deps, app, settings);
        return { answer: settings, text: `Set ${settings.store}.` };
      }),
    );

  store
    .command('list')
    .description('list the stores of which something was set; all others have the defaults')
    .addOption(appOption())
    .action(({ app }: { app: string }) =>
      perform(async ({ deps }) => {
        const stores = await listStores(deps, app);
        return { answer: { stores }, text: formatTable(stores, ['store', 'commission', 'title']) };
      }),
    );
}
