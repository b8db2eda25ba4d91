// sps rate: currency rates, the same for all apps.
import type { Command } from 'commander';
import { importRates } from '../import/rates.ts';
import type { Perform } from './perform.ts';

export function addCommands(program: Command, perform: Perform): void {
  program
    .command('rate')
    .description('currency rates')
    .command('import')
    .description('take rates from a CSV with the columns date,currency,usd_per_unit; a rate given again is replaced')
    .argument('<file>')
    .action((file: string) =>
      perform(async ({ deps }) => {
        const answer = await importRates(deps, file);
        return { answer, text: `Read ${answer.read} rates.` };
      }),
    );
}
