// sps secrets: handles what is stored encrypted.
import type { Command } from 'commander';
import { counted } from '../lib/counted.ts';
import { rotateEncryptionKey } from '../webhooks/reseal.ts';
import type { Perform } from './perform.ts';

export function addCommands(program: Command, perform: Perform): void {
  program
    .command('secrets')
    .description('manage how webhook secrets are encrypted in the database')
    .command('rotate')
    .description(
      'encrypt webhook secrets with SPS_ENCRYPTION_KEY: those stored in clear or encrypted with SPS_ENCRYPTION_KEY_PREVIOUS',
    )
    .action(() =>
      perform(async ({ deps }) => {
        const answer = await rotateEncryptionKey(deps);
        const { resealed, webhooks, key_id } = answer;
        const text = `Encrypted the secrets of ${resealed} of ${counted(webhooks, 'webhook', 'webhooks')} with the key ${key_id}.`;
        return { answer, text };
      }),
    );
}
