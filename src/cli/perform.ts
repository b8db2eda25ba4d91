// Runs one command on the database, as the service does: opens it, migrates it, closes it. Prints the answer.
import type { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { createDb } from '../db/client.ts';
import { createDatabaseClock } from '../db/clock.ts';
import { migrateToLatest } from '../db/migrate.ts';
import { openDatabase } from '../db/open.ts';
import { ONE_RUN } from '../db/server-run.ts';
import type { Deps } from '../deps.ts';
import { onInterrupts } from '../lib/interrupts.ts';
import { createLog } from '../log.ts';
import { OperatorError } from '../operator-error.ts';
import { toJson } from './harmless.ts';
import { print } from './print.ts';

/** The facts of a whole app's products may have to be derived again. */
const STATEMENT_TIMEOUT_MS = 3_600_000;

/** The exit code that a shell uses for SIGINT. */
export const INTERRUPTED_CODE = 130;

/** The work may still be under way, so the process has to be ended. */
export class InterruptedError extends OperatorError {}

export interface Operator {
  deps: Deps;
  connectionString: string;
  /** Names of the migrations that were just applied. */
  migrated: readonly string[];
  /** Aborted by Ctrl-C or a request to end, if the command stops gracefully. */
  signal: AbortSignal;
}

/** `answer` is what `--json` prints, `text` is for people. */
export interface CommandAnswer {
  answer: object;
  text: string;
}

export interface PerformOptions {
  /**
   * Whether the database is migrated to this version first. Commands that only look at it or copy it leave it as it is.
   */
  migrates?: boolean;
  /**
   * Whether an embedded database is created if there is none. Other commands would take a wrong directory for an empty
   * database.
   */
  createsDatabase?: boolean;
  /** Whether the work stops when `signal` is aborted. Other work is abandoned where it is: an open transaction is rolled back. */
  stopsGracefully?: boolean;
}

/** Work that prints its own output as it goes returns no answer. */
export type Perform = (
  work: (operator: Operator) => Promise<CommandAnswer | undefined>,
  options?: PerformOptions,
) => Promise<void>;

interface Ending {
  /** Aborted when the command is to stop gracefully. */
  signal: AbortSignal;
  /** Rejects when the command is to be abandoned immediately. */
  interrupted: Promise<never>;
  stopWatching: () => void;
}

/** Writes to standard error: standard output is only for the answer, which programs may read. */
const report = (words: string) => process.stderr.write(`${words}\n`);

/**
 * The first signal asks a command that can stop gracefully to do so. The next one abandons it immediately, as the first
 * one does for any other command.
 */
export function watchSignals(stopsGracefully: boolean): Ending {
  const graceful = new AbortController();
  let interrupt: (error: Error) => void = () => undefined;
  const interrupted = new Promise<never>((_resolve, reject) => {
    interrupt = reject;
  });
  // It may reject before anybody awaits it.
  interrupted.catch(() => undefined);
  let isLeaving = false;
  const leave = () => {
    if (isLeaving) process.exit(INTERRUPTED_CODE);
    isLeaving = true;
    interrupt(new InterruptedError('Interrupted.'));
  };
  const stopGracefully = () => {
    report('Stopping cleanly; interrupt again to stop immediately.');
    graceful.abort();
  };
  const stopWatching = onInterrupts(['SIGINT', 'SIGTERM', 'SIGHUP'], {
    onFirst: stopsGracefully ? stopGracefully : leave,
    onAgain: leave,
  });
  return { signal: graceful.signal, interrupted, stopWatching };
}

type Surroundings = Pick<Operator, 'connectionString' | 'signal'> & Pick<Deps, 'config' | 'log'>;

async function operate<T>(
  work: (operator: Operator) => Promise<T>,
  { connectionString, signal, config, log }: Surroundings,
  migrates: boolean,
): Promise<T> {
  const migrated = migrates ? await migrateToLatest(connectionString, { report, signal }) : [];
  const db = createDb(
    { connectionString, max: 4, statementTimeoutMs: STATEMENT_TIMEOUT_MS, applicationName: 'sps-cli' },
    (err) => log.debug({ err }, 'a database connection broke'),
  );
  try {
    const clock = createDatabaseClock(db);
    // `sps doctor` reports a database that cannot be queried.
    await clock.read().catch(() => undefined);
    const pools = { db, lookupDb: db, groupDb: db, analyticsDb: db, probeDb: db };
    // A command caches nothing for longer than it runs.
    const deps = { ...pools, serverRun: ONE_RUN, config, log, now: clock.now };
    return await work({ deps, connectionString, migrated, signal });
  } finally {
    await db.destroy();
  }
}

async function withOperator<T>(
  work: (operator: Operator) => Promise<T>,
  { migrates = true, createsDatabase = false, stopsGracefully = false }: PerformOptions,
): Promise<T> {
  const config = loadConfig();
  const log = await createLog('warn');
  const { signal, interrupted, stopWatching } = watchSignals(stopsGracefully);
  try {
    const database = await openDatabase(config, { log, role: 'cli', mustExist: !createsDatabase });
    try {
      const { connectionString } = database;
      // Starts nothing after a signal that came meanwhile.
      await Promise.race([interrupted, Promise.resolve()]);
      return await Promise.race([operate(work, { connectionString, signal, config, log }, migrates), interrupted]);
    } finally {
      // Never leaves the embedded server running, whatever becomes of the work.
      await database.close();
    }
  } finally {
    stopWatching();
  }
}

export function printAnswer(program: Command, { answer, text }: CommandAnswer): Promise<void> {
  return print(program.opts().json ? toJson(answer) : text);
}

export function createPerform(program: Command): Perform {
  return async (work, options = {}) => {
    const answer = await withOperator(work, options);
    if (answer) await printAnswer(program, answer);
  };
}
