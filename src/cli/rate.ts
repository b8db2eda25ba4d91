// sps rate: currency rates, which all apps share.
import type { Command } from 'commander';
import { listRateRanges } from '../import/rate-queries.ts';
import { importRates } from '../import/rates.ts';
import { counted } from '../lib/counted.ts';
import type { Perform } from './perform.ts';
import { formatTable } from './table.ts';

export function addCommands(program: Command, perform: Perform): void {
  const rate = program.command('rate').description('manage currency rates, which all apps share');

  rate
    .command('import')
    .description(
      'import rates from a CSV with the columns date,currency,usd_per_unit; a rate given again replaces the earlier one',
    )
    .argument('<file>')
    .action((file: string) =>
      perform(async ({ deps }) => {
        const answer = await importRates(deps, file);
        return { answer, text: `Read ${counted(answer.read, 'rate', 'rates')}.` };
      }),
    );

  rate
    .command('list')
    .description('list the currencies that have rates, with their range of days and the newest rate')
    .action(() =>
      perform(async ({ deps }) => {
        const currencies = await listRateRanges(deps.db);
        const columns = ['currency', 'first_date', 'last_date', 'rates', 'last_usd_per_unit'] as const;
        return { answer: { currencies }, text: formatTable(currencies, columns) };
      }),
    );
}
