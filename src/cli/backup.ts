// sps backup: copies the embedded database to a folder. A database given by DATABASE_URL is backed up with its own
// tools.
import type { Command } from 'commander';
import { type Config, loadConfig } from '../config.ts';
import { backUp } from '../db/embedded/backup.ts';
import { OperatorError } from '../operator-error.ts';
import type { Perform } from './perform.ts';

/** Loads the configuration, which must be for an embedded database. */
export function loadEmbeddedConfig(): Config {
  const config = loadConfig();
  if (!config.DATABASE_URL) return config;
  throw new OperatorError('DATABASE_URL is set: use pg_dump and pg_restore, as docs/operations.md shows.');
}

export function addCommands(program: Command, perform: Perform): void {
  program
    .command('backup')
    .description('copy the embedded database to a new folder; the service may keep running')
    .argument('<folder>')
    .action(async (folder: string) => {
      const { SPS_DATA_DIR } = loadEmbeddedConfig();
      await perform(
        async ({ connectionString, signal }) => {
          const answer = await backUp({ dataDir: SPS_DATA_DIR, connectionString, signal }, folder);
          const size = `${(answer.bytes / 1024 ** 2).toFixed(0)} MiB`;
          return {
            answer,
            text: `Backed up to ${answer.folder} (${size}). To restore it: sps restore ${answer.folder}`,
          };
        },
        { migrates: false, stopsGracefully: true },
      );
    });
}
