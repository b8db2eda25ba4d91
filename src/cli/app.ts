// sps app: making, changing and listing apps.
import type { Command } from 'commander';
import { type AppChange, changeApp, createApp, listApps } from '../apps/service.ts';
import { choice } from './options.ts';
import type { Perform } from './perform.ts';
import { formatMembers, formatTable } from './table.ts';

interface ChangeOptions {
  name?: string;
  profileShape?: NonNullable<AppChange['profile_shape']>;
  attribution?: NonNullable<AppChange['attribution_policy']>;
  sharing?: NonNullable<AppChange['sharing']>;
}

type CreateOptions = Required<ChangeOptions> & { timezone: string };

const profileShape = () => choice('--profile-shape <shape>', 'how its profiles are rendered', ['dictionary', 'array']);
const attributionPolicy = () =>
  choice('--attribution <which>', 'which attribution of a profile counts', ['last', 'first']);
const sharingPolicy = () =>
  choice(
    '--sharing <policy>',
    'what to do if a purchase of one profile is set for another: refuse it, or transfer it with its history',
    ['refuse', 'transfer'],
  );

export function addCommands(program: Command, perform: Perform): void {
  const app = program.command('app').description('manage the apps of this service');

  app
    .command('create')
    .description('create an app with a public and a secret key; the keys are shown only once')
    .requiredOption('--name <name>', 'display name')
    .option('--timezone <zone>', 'time zone of its charts, an IANA name', 'UTC')
    .addOption(profileShape().default('dictionary'))
    .addOption(attributionPolicy().default('last'))
    .addOption(sharingPolicy().default('refuse'))
    .action(({ profileShape: profile_shape, attribution: attribution_policy, ...options }: CreateOptions) =>
      perform(
        async ({ deps }) => {
          const { app: created, ...keys } = await createApp(deps, { ...options, profile_shape, attribution_policy });
          const answer = { app_id: created.app_id, ...keys };
          return { answer, text: formatMembers(answer) };
        },
        { createsDatabase: true },
      ),
    );

  app
    .command('change')
    .description(
      'change the given settings; running services pick them up within two seconds; earlier records stay as they are',
    )
    .argument('<app-id>')
    .option('--name <name>', 'display name')
    .addOption(profileShape())
    .addOption(attributionPolicy())
    .addOption(sharingPolicy())
    .action(
      (appId: string, { profileShape: profile_shape, attribution: attribution_policy, ...options }: ChangeOptions) =>
        perform(async ({ deps }) => {
          const answer = await changeApp(deps, appId, {
            ...options,
            ...(profile_shape && { profile_shape }),
            ...(attribution_policy && { attribution_policy }),
          });
          return { answer, text: formatMembers(answer) };
        }),
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
