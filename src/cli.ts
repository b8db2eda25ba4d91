#!/usr/bin/env node
// sps: the operator's program. It works on the database of the service, whether the service is running or not.
import { Command } from 'commander';
import { harmless } from './cli/harmless.ts';
import { refuseEmptyValues } from './cli/options.ts';
import { createPerform, INTERRUPTED_CODE, InterruptedError, type Perform } from './cli/perform.ts';
import { describeFailure } from './failure.ts';
import { VERSION } from './version.ts';

interface Noun {
  addCommands: (program: Command, perform: Perform) => void;
}

/**
 * In the order of the help. Only the command that is named is loaded: loading all of them would take half the time that
 * most commands take.
 */
const NOUNS: Readonly<Record<string, () => Promise<Noun>>> = {
  app: () => import('./cli/app.ts'),
  key: () => import('./cli/key.ts'),
  'access-level': () => import('./cli/access-level.ts'),
  product: () => import('./cli/product.ts'),
  store: () => import('./cli/store.ts'),
  rate: () => import('./cli/rate.ts'),
  webhook: () => import('./cli/webhook.ts'),
  secrets: () => import('./cli/secrets.ts'),
  profile: () => import('./cli/profile.ts'),
  import: () => import('./cli/import.ts'),
  doctor: () => import('./cli/doctor.ts'),
  backup: () => import('./cli/backup.ts'),
  restore: () => import('./cli/restore.ts'),
  migrate: () => import('./cli/migrate.ts'),
};

const program = new Command('sps')
  .description('operate the subscription profile service: apps, keys, products, webhooks, imports')
  .version(VERSION)
  .option('--json', 'print one JSON object on standard output and nothing else')
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError('(use --help for usage)');

// A closed terminal is no reason to leave anything half done. The code that prints an answer handles the error itself.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

try {
  const named = process.argv.slice(2).find((word) => Object.hasOwn(NOUNS, word));
  const nouns = named === undefined ? Object.values(NOUNS) : [NOUNS[named] as () => Promise<Noun>];
  for (const noun of await Promise.all(nouns.map((load) => load()))) noun.addCommands(program, createPerform(program));
  refuseEmptyValues(program);
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`sps: ${describeFailure(error).split('\n').map(harmless).join('\n')}\n`);
  if (error instanceof InterruptedError) process.exit(INTERRUPTED_CODE);
  process.exitCode = 1;
}
