// The process around a service: started, told to stop by a signal, ended with an exit code.
import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { inWords } from './failure.ts';
import { onInterrupts } from './lib/interrupts.ts';

/** For what is under way: a request, a delivery (10 s), mostly the last checkpoint of the embedded server, too. */
const GRACE_MS = 30_000;

/** Requests to end: by a supervisor, a terminal, a terminal that was closed. It stops once; one that comes two seconds after another ends it at once. */
const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;
/** The process is broken, and has to end by them: a listener would have the faulting instruction run for ever. */
const CRASHES = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const;

/** A reader of the log that stands still would hold an ending process for ever, in a call that cannot be given up. */
const LOG_MS = 3_000;

interface Running {
  stop: () => Promise<void>;
}

/**
 * Runs until it is to end; a failed start ends in one sentence and exit code 1. `start` is to give up at its next step, undo what it has done and
 * fail, once the signal says that it is to end already.
 */
export async function runUntilStopped(
  config: Config,
  log: Logger,
  start: (ending: AbortSignal) => Promise<Running>,
): Promise<void> {
  const ending = new AbortController();
  const starting = start(ending.signal);
  let stopping: Promise<void> | undefined;
  const graceMs = GRACE_MS + config.SHUTDOWN_DELAY_MS;
  const grace = closeWithGrace(
    {
      // The package's own ends the process without waiting for the log, or hangs where nobody takes it.
      delay: false,
      logger: lateness(log, config),
      skip: [...STOPS, ...CRASHES, 'beforeExit'],
    },
    async ({ err }) => {
      if (err) log.fatal({ err }, 'stopping after an error');
      else if (!stopping) log.info('stopping');
      // Whoever asked for it first: what is under way is not cut off by the next.
      ending.abort();
      stopping ??= within(graceMs, stop(starting, log)).finally(() => leaveLog(log));
      await stopping;
    },
  );
  onInterrupts(STOPS, { onFirst: grace.close, onAgain: () => leaveLog(log).then(() => process.exit(1)) });
  try {
    await starting;
  } catch (error) {
    // Nobody asks any more why it would not have started.
    if (ending.signal.aborted) return;
    process.stderr.write(`${inWords(error)}\n`);
    await leaveLog(log);
    process.exit(1);
  }
}

/** Throws when it is not done by then. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  const isDone = await Promise.race([work.then(() => true), sleep(ms, false)]);
  if (!isDone) throw new Error(`not stopped within ${ms / 1000} s`);
}

/** Tells of an end before everything has stopped. */
function lateness(log: Logger, { DATABASE_URL }: Config) {
  const left = DATABASE_URL ? '' : '; an embedded PostgreSQL that recovers runs on until the next start finds it';
  return { error: (reason: unknown) => log.error({ reason: String(reason) }, `ended at once${left}`) };
}

/** Waits until the log has been taken; where nobody takes it the process ends here. */
async function leaveLog(log: Logger): Promise<void> {
  const taken = new Promise<boolean>((resolve) => log.flush(() => resolve(true)));
  if (!(await Promise.race([taken, sleep(LOG_MS, false)]))) process.kill(process.pid, 'SIGKILL');
}

/** Stops what runs, or waits until a start has given up: one that was complete by then is stopped, too. */
async function stop(starting: Promise<Running>, log: Logger): Promise<void> {
  const running = await starting.catch(() => undefined);
  try {
    await running?.stop();
    log.info('stopped');
  } catch (err) {
    log.error({ err }, 'did not stop cleanly');
    throw err;
  }
}
