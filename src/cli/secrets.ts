// sps secrets: handles what is stored encrypted.
import type { Command } from 'commander';
import { counted } from '../lib/counted.ts';
import { type Resealed, rotateEncryptionKey } from '../webhooks/reseal.ts';
import type { Perform } from './perform.ts';

function describe({ resealed, webhooks, key_id }: Resealed): string {
  const name = (count: number) => counted(count, 'webhook', 'webhooks');
  if (webhooks === 0) return 'Nothing to encrypt: there are no webhooks.';
  if (resealed === 0) {
    return `Nothing to encrypt: the secrets of ${name(webhooks)} are already encrypted with the key ${key_id}.`;
  }
  const others = resealed < webhooks ? `; those of ${name(webhooks - resealed)} already were` : '';
  return `Encrypted the secrets of ${name(resealed)} with the key ${key_id}${others}.`;
}

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
        return { answer, text: describe(answer) };
      }),
    );
}
