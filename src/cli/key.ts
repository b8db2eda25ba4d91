// sps key: issuing, listing and revoking the keys of an app.
import type { Command } from 'commander';
import { createKey, listKeys, revokeKey } from '../apps/service.ts';
import type { KeyKind, KeyScope } from '../http/auth.ts';
import { appOption, choice } from './options.ts';
import type { Perform } from './perform.ts';
import { formatMembers, formatTable } from './table.ts';

export function addCommands(program: Command, perform: Perform): void {
  const key = program.command('key').description('manage the API keys of an app');

  key
    .command('create')
    .description('issue a key; it is shown only once')
    .addOption(appOption())
    .addOption(choice('--kind <kind>', 'kind of key', ['public', 'secret']).makeOptionMandatory())
    .addOption(choice('--scope <scope>', 'what a secret key may be used for', ['all', 'analytics']).default('all'))
    .action(({ app, ...options }: { app: string; kind: KeyKind; scope: KeyScope }) =>
      perform(async ({ deps }) => {
        const answer = await createKey(deps, { appId: app, ...options });
        return { answer, text: formatMembers(answer) };
      }),
    );

  key
    .command('list')
    .description('list the keys of an app, including revoked ones')
    .addOption(appOption())
    .action(({ app }: { app: string }) =>
      perform(async ({ deps }) => {
        const keys = await listKeys(deps, app);
        return {
          answer: { keys },
          text: formatTable(keys, ['key_id', 'kind', 'scope', 'prefix', 'created_at', 'revoked_at']),
        };
      }),
    );

  key
    .command('revoke')
    .description('revoke a key; running services refuse it within two seconds')
    .argument('<key-id>')
    .action((keyId: string) =>
      perform(async ({ deps }) => {
        const answer = await revokeKey(deps, keyId);
        return { answer, text: `Revoked ${answer.key_id}.` };
      }),
    );
}
