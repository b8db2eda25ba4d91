#!/usr/bin/env node
// sps: the operator's program. It works on the database of the service, while the service runs or not.
import { Command } from 'commander';
import { addAccessLevelCommands } from './cli/access-level.ts';
import { addAppCommands } from './cli/app.ts';
import { inWords } from './cli/failure.ts';
import { addImportCommands } from './cli/import.ts';
import { addKeyCommands } from './cli/key.ts';
import { addMigrateCommand } from './cli/migrate.ts';
import { createPerform } from './cli/perform.ts';
import { addProductCommands } from './cli/product.ts';
import { addRateCommands } from './cli/rate.ts';
import { addStoreCommands } from './cli/store.ts';
import { addWebhookCommands } from './cli/webhook.ts';

const program = new Command('sps')
  .description('Operates the subscription profile service: apps, keys, products, webhooks, imports.')
  .option('--json', 'print one JSON object on standard output and nothing else')
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError('(add --help for what there is)');

const perform = createPerform(program);
for (const add of [
  addAppCommands,
  addKeyCommands,
  addAccessLevelCommands,
  addProductCommands,
  addStoreCommands,
  addRateCommands,
  addWebhookCommands,
  addImportCommands,
  addMigrateCommand,
]) {
  add(program, perform);
}

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`sps: ${inWords(error)}\n`);
  process.exitCode = 1;
}
