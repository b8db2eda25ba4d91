// sps secrets: what is kept encrypted.
import type { Command } from 'commander';
import { rotateEncryptionKey } from '../webhooks/reseal.ts';
import type { Perform } from './perform.ts';

export function addCommands(program: Command, perform: Perform): void {
  program
    .command('secrets')
    .description('webhook secrets as the database keeps them')
    .command('rotate')
    .description('encrypt them with SPS_ENCRYPTION_KEY: those in clear, and those of SPS_ENCRYPTION_KEY_PREVIOUS')
    .action(() =>
      perform(async ({ deps }) => {
        const answer = await rotateEncryptionKey(deps);
        return {
          answer,
          text: `Encrypted the secrets of ${answer.resealed} of ${answer.webhooks} webhooks with the key ${answer.key_id}.`,
        };
      }),
    );
}
