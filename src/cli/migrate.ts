// sps migrate: migrates the database to this version. Nearly every command does so first; this one does nothing else.
import type { Command } from 'commander';
import type { Perform } from './perform.ts';

export function addCommands(program: Command, perform: Perform): void {
  program
    .command('migrate')
    .description('migrate the database to the version of this program')
    .action(() =>
      perform(
        async ({ migrated }) => ({
          answer: { applied: migrated },
          text: migrated.length === 0 ? 'The database is up to date.' : `Applied ${migrated.join(', ')}.`,
        }),
        { createsDatabase: true, stopsGracefully: true },
      ),
    );
}
