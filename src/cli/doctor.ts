// sps doctor: checks the state of the service and its database. It changes nothing and does not migrate. Exit code 1 if
// there is a problem.
import type { Command } from 'commander';
import { examine } from '../operations/doctor.ts';
import type { Perform } from './perform.ts';
import { formatTable } from './table.ts';

export function addCommands(program: Command, perform: Perform): void {
  program
    .command('doctor')
    .description('check the database, migrations, clock, disk, webhooks, totals and charts')
    .option('--no-charts', 'skip timing the charts')
    .action(({ charts }: { charts: boolean }) =>
      perform(
        async ({ deps }) => {
          const findings = await examine(deps, { charts });
          const isWell = findings.every(({ state }) => state !== 'problem');
          if (!isWell) process.exitCode = 1;
          return { answer: { is_well: isWell, findings }, text: formatTable(findings, ['check', 'state', 'message']) };
        },
        { migrates: false },
      ),
    );
}
