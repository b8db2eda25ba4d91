// sps access-level: the paid access levels of an app.
import type { Command } from 'commander';
import { addAccessLevel, listAccessLevels, removeAccessLevel } from '../apps/service.ts';
import { appOption } from './options.ts';
import type { Perform } from './perform.ts';
import { formatTable } from './table.ts';

export function addCommands(program: Command, perform: Perform): void {
  const level = program.command('access-level').description('manage the paid access levels of an app');

  level
    .command('add')
    .description('add an access level')
    .argument('<id>', 'id by which grants and products refer to it')
    .addOption(appOption())
    .action((id: string, { app }: { app: string }) =>
      perform(async ({ deps }) => {
        await addAccessLevel(deps, app, id);
        return { answer: { access_level_id: id }, text: `Added ${id}.` };
      }),
    );

  level
    .command('remove')
    .description('remove an access level that was never granted and that no product opens')
    .argument('<id>')
    .addOption(appOption())
    .action((id: string, { app }: { app: string }) =>
      perform(async ({ deps }) => {
        await removeAccessLevel(deps, app, id);
        return { answer: { access_level_id: id }, text: `Removed ${id}.` };
      }),
    );

  level
    .command('list')
    .description('list the access levels')
    .addOption(appOption())
    .action(({ app }: { app: string }) =>
      perform(async ({ deps }) => {
        const levels = (await listAccessLevels(deps, app)).map(({ app_id: _, ...one }) => one);
        return { answer: { access_levels: levels }, text: formatTable(levels, ['access_level_id', 'created_at']) };
      }),
    );
}
