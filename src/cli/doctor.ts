// sps doctor: checks the state of the service and its database. It changes nothing and does not migrate. Exit code 1 if
// there is a problem.
import type { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { findHome } from '../db/embedded/home.ts';
import { EmbeddedDatabaseError } from '../db/embedded/problem.ts';
import { examine, examineUnusable } from '../operations/doctor.ts';
import type { Finding } from '../operations/finding.ts';
import { type CommandAnswer, type Perform, printAnswer } from './perform.ts';
import { formatTable } from './table.ts';

function report(findings: readonly Finding[]): CommandAnswer {
  const isWell = findings.every(({ state }) => state !== 'problem');
  if (!isWell) process.exitCode = 1;
  return { answer: { is_well: isWell, findings }, text: formatTable(findings, ['check', 'state', 'message']) };
}

/** Examines an embedded database that could not be opened. Throws the reason if there is none. */
async function examineUnopened(reason: unknown): Promise<Finding[]> {
  if (!(reason instanceof EmbeddedDatabaseError)) throw reason;
  const home = await findHome(loadConfig().SPS_DATA_DIR);
  if (!home) throw reason;
  return examineUnusable(reason, home);
}

export function addCommands(program: Command, perform: Perform): void {
  program
    .command('doctor')
    .description('check the database, migrations, clock, disk, webhooks, totals and charts')
    .option('--no-charts', 'skip timing the charts')
    .action(({ charts }: { charts: boolean }) =>
      perform(async ({ deps }) => report(await examine(deps, { charts })), { migrates: false }).catch(
        async (error: unknown) => printAnswer(program, report(await examineUnopened(error))),
      ),
    );
}
