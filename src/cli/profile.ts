// sps profile: prints what is stored about a person.
import { type Command, Option } from 'commander';
import { getApp } from '../apps/service.ts';
import { OperatorError } from '../operator-error.ts';
import { exportProfile } from '../profile/export.ts';
import { appOption } from './options.ts';
import type { Perform } from './perform.ts';
import { startObject } from './print.ts';

interface Named {
  app: string;
  customerUserId?: string;
  profileId?: string;
}

export function addCommands(program: Command, perform: Perform): void {
  program
    .command('profile')
    .description('export what is stored about a person')
    .command('export')
    .description('print everything as JSON, for a data access request; profiles are deleted over HTTP')
    .addOption(appOption())
    .option('--customer-user-id <id>', "the app's own user id")
    .addOption(
      new Option('--profile-id <id>', 'or the id of the profile, even of a deleted one').conflicts('customerUserId'),
    )
    .action(({ app, customerUserId, profileId }: Named) =>
      perform(async ({ deps }) => {
        if (customerUserId === undefined && profileId === undefined)
          throw new OperatorError('Give --customer-user-id or --profile-id.');
        const { app_id } = await getApp(deps, app);
        const named = { app_id, customer_user_id: customerUserId ?? null, profile_id: profileId ?? null };
        const { member, end } = startObject(program.opts().json ? 0 : 2);
        await exportProfile(deps.db, named, member);
        await end();
      }),
    );
}
