// sps app: making and listing apps.
import type { Command } from 'commander';
import { createApp, listApps, type NewApp } from '../apps/service.ts';
import { choice } from './options.ts';
import type { Perform } from './perform.ts';
import { formatMembers, formatTable } from './table.ts';

interface CreateOptions {
  name: string;
  timezone?: string;
  profileShape: NonNullable<NewApp['profile_shape']>;
  attribution: NonNullable<NewApp['attribution_policy']>;
  sharing: NonNullable<NewApp['sharing']>;
}

export function addCommands(program: Command, perform: Perform): void {
  const app = program.command('app').description('the apps of this service');

  app
    .command('create')
    .description('make an app with a public and a secret key, which are shown this once')
    .requiredOption('--name <name>', 'what people call it')
    .option('--timezone <zone>', 'reporting zone of its charts, an IANA name', 'UTC')
    .addOption(
      choice('--profile-shape <shape>', 'how its profiles are rendered', ['dictionary', 'array']).default('dictionary'),
    )
    .addOption(
      choice('--attribution <which>', 'which attribution of a profile counts', ['last', 'first']).default('last'),
    )
    .addOption(
      choice('--sharing <policy>', 'what happens to a subscription that another profile brings', [
        'refuse',
        'transfer',
      ]).default('refuse'),
    )
    .action(({ profileShape, attribution, ...options }: CreateOptions) =>
      perform(
        async ({ deps }) => {
          const { app: created, ...keys } = await createApp(deps, {
            ...options,
            profile_shape: profileShape,
            attribution_policy: attribution,
          });
          const answer = { app_id: created.app_id, ...keys };
          return { answer, text: formatMembers(answer) };
        },
        { makes: true },
      ),
    );

  app
    .command('list')
    .description('list the apps')
    .action(() =>
      perform(async ({ deps }) => {
        const apps = await listApps(deps);
        return {
          answer: { apps },
          text: formatTable(apps, [
            'app_id',
            'name',
            'timezone',
            'profile_shape',
            'attribution_policy',
            'sharing',
            'created_at',
          ]),
        };
      }),
    );
}
