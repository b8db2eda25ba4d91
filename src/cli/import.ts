// sps import: imports profiles and transactions from files.
import type { Command } from 'commander';
import { getApp } from '../apps/service.ts';
import { importFile, type Summary } from '../import/import-file.ts';
import type { Kind } from '../import/kind.ts';
import { PROFILES } from '../import/profiles/kind.ts';
import { TRANSACTIONS } from '../import/transactions/kind.ts';
import { MAX_NAMES } from '../import/unknown-names.ts';
import { harmless } from './harmless.ts';
import { appOption } from './options.ts';
import type { Perform } from './perform.ts';
import { startProgress } from './progress.ts';
import { formatMembers } from './table.ts';

/** Lists names. As many as MAX_NAMES may be only the first of more. */
function enumerate(names: readonly string[]): string {
  const all = names.length < MAX_NAMES ? names : [...names, 'and possibly more'];
  return harmless(all.join(', '));
}

function describeSummary(summary: Summary): string {
  const { rejects_file, earlier_rejects_files, unknown_names, unconfigured_products, ...counts } = summary;
  const names = unknown_names?.map((name) => JSON.stringify(name));
  const products = unconfigured_products?.map((one) => `${one.store_product_id} (${one.store})`);
  return [
    formatMembers(counts),
    ...(rejects_file ? [`The rejected records are in ${rejects_file}.`] : []),
    ...(earlier_rejects_files ? [`Rejects of earlier runs are in ${earlier_rejects_files.join(', ')}.`] : []),
    ...(names ? [`Ignored unknown members or columns: ${enumerate(names)}.`] : []),
    ...(products
      ? [
          `These products are not configured, so they open no access level (see \`sps product add\`): ${enumerate(products)}.`,
        ]
      : []),
  ].join('\n');
}

export function addCommands(program: Command, perform: Perform): void {
  const parent = program
    .command('import')
    .description('import NDJSON or CSV files, recognised by their extension; an interrupted import can be run again');
  addKind('profiles', 'profiles with their attribution and custom attributes', PROFILES);
  addKind('transactions', 'transactions of existing profiles', TRANSACTIONS);

  function addKind<T>(name: string, description: string, kind: Kind<T>): void {
    parent
      .command(name)
      .description(`import ${description}; rejected records go to FILE.rejects.ndjson`)
      .argument('<file>')
      .addOption(appOption())
      .action((file: string, { app: appId }: { app: string }) =>
        perform(
          async ({ deps, connectionString, signal }) => {
            const app = await getApp(deps, appId);
            const { stop, onProgress } = startProgress();
            try {
              const answer = await importFile(kind, { connectionString, app, file, now: deps.now, signal, onProgress });
              // Not a file of such records: the exit code says so to scripts.
              if (answer.rejected > 0 && answer.rejected === answer.read) process.exitCode = 1;
              return { answer, text: describeSummary(answer) };
            } finally {
              stop();
            }
          },
          { stopsGracefully: true },
        ),
      );
  }
}
