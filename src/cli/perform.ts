// Runs one command on the database, as the service does: opened, migrated, closed. Prints its answer.
import type { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { createDb, createPool } from '../db/client.ts';
import { createDatabaseClock } from '../db/clock.ts';
import { migrateToLatest } from '../db/migrate.ts';
import { openDatabase } from '../db/open.ts';
import type { Deps } from '../deps.ts';
import { createLog } from '../log.ts';

/** Products of a whole app may have their facts derived again. */
const LONGEST_STATEMENT_MS = 3_600_000;

export interface Operator {
  deps: Deps;
  connectionString: string;
  /** Names of the migrations that were applied just now. */
  migrated: readonly string[];
  /** Aborted by Ctrl-C or a request to end. */
  signal: AbortSignal;
}

/** `answer` is what `--json` prints, `text` what people read. */
export interface Outcome {
  answer: object;
  text: string;
}

export interface PerformOptions {
  /** Whether the database is brought to this version first; a look at it and a copy of it leave it as it is. */
  migrates?: boolean;
  /** Whether an embedded database is made where there is none; elsewhere that would be a wrong directory, taken for an empty database. */
  makes?: boolean;
}

export type Perform = (work: (operator: Operator) => Promise<Outcome>, options?: PerformOptions) => Promise<void>;

async function withOperator<T>(
  work: (operator: Operator) => Promise<T>,
  { migrates = true, makes = false }: PerformOptions,
): Promise<T> {
  const config = loadConfig();
  const log = await createLog('warn');
  const ending = new AbortController();
  const end = () => {
    if (ending.signal.aborted) process.exit(130);
    process.stderr.write('Ending after what is being written; once more ends at once.\n');
    ending.abort();
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  const database = await openDatabase(config, { log, role: 'cli', mustExist: !makes });
  try {
    const { connectionString } = database;
    const migrated = migrates ? await migrateToLatest(connectionString) : [];
    const pool = createPool(
      { connectionString, max: 4, statementTimeoutMs: LONGEST_STATEMENT_MS, applicationName: 'sps-cli' },
      (err) => log.debug({ err }, 'a database connection broke'),
    );
    const db = createDb(pool);
    try {
      const clock = createDatabaseClock(db);
      // `sps doctor` tells of a database that cannot be asked.
      await clock.read().catch(() => undefined);
      const deps = { db, analyticsDb: db, probeDb: db, config, log, now: clock.now };
      return await work({ deps, connectionString, migrated, signal: ending.signal });
    } finally {
      await db.destroy();
    }
  } finally {
    await database.close();
  }
}

export function createPerform(program: Command): Perform {
  return async (work, options = {}) => {
    const { answer, text } = await withOperator(work, options);
    process.stdout.write(`${program.opts().json ? JSON.stringify(answer) : text}\n`);
  };
}
