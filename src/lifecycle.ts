// The process around a service: starts it, stops it on a signal, and ends with an exit code.
import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { describeFailure } from './failure.ts';
import { onInterrupts } from './lib/interrupts.ts';

/** Time for work in progress: a request, a delivery (10 s), usually also the last checkpoint of the embedded server. */
const GRACE_MS = 30_000;

/**
 * Requests to end, from a supervisor, a terminal, or a terminal that was closed. The first one stops the process;
 * another one, more than two seconds later, ends it immediately.
 */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const;
/**
 * The process is broken and has to die of these signals: with a listener, it would run the faulting instruction for
 * ever.
 */
const CRASH_SIGNALS = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const;

/** A log reader that has stalled would hold up an ending process for ever, in a call that cannot be cancelled. */
const LOG_FLUSH_TIMEOUT_MS = 3_000;

interface Running {
  stop: () => Promise<void>;
}

/**
 * Runs until it is asked to stop; a failed start ends in one sentence and exit code 1. Once the signal is aborted,
 * `start` must give up at its next step, undo what it has done, and fail.
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
      // The package's own delay ends the process without waiting for the log, or hangs if nobody reads the log.
      delay: false,
      logger: createEarlyEndLogger(log, config),
      skip: [...STOP_SIGNALS, ...CRASH_SIGNALS, 'beforeExit'],
    },
    async ({ err }) => {
      if (err) log.fatal({ err }, 'stopping after an error');
      else if (!stopping) log.info('stopping');
      // Stops only once, whatever asked first: a later request must not cut off the work in progress.
      ending.abort();
      stopping ??= within(graceMs, stop(starting, log)).finally(() => flushLogOrExit(log));
      await stopping;
    },
  );
  onInterrupts(STOP_SIGNALS, { onFirst: grace.close, onAgain: () => flushLogOrExit(log).then(() => process.exit(1)) });
  try {
    await starting;
  } catch (error) {
    // The process was asked to stop, so it no longer matters why it did not start.
    if (ending.signal.aborted) return;
    process.stderr.write(`${describeFailure(error)}\n`);
    await flushLogOrExit(log);
    process.exit(1);
  }
}

/** Throws if the work is not done within this time. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  const isDone = await Promise.race([work.then(() => true), sleep(ms, false)]);
  if (!isDone) throw new Error(`not stopped within ${ms / 1000} s`);
}

/** Returns a logger that reports an end before everything has stopped. */
function createEarlyEndLogger(log: Logger, { DATABASE_URL }: Config) {
  const left = DATABASE_URL
    ? ''
    : '; an embedded PostgreSQL that is recovering keeps running until the next start finds it';
  return {
    error: (reason: unknown) => log.error({ reason: String(reason) }, `exiting before everything has stopped${left}`),
  };
}

/** Waits until the log has been written; if nobody reads it, ends the process here. */
async function flushLogOrExit(log: Logger): Promise<void> {
  const taken = new Promise<boolean>((resolve) => log.flush(() => resolve(true)));
  if (!(await Promise.race([taken, sleep(LOG_FLUSH_TIMEOUT_MS, false)]))) process.kill(process.pid, 'SIGKILL');
}

/** Stops what runs, or waits until a start has given up; a start that completed by then is stopped, too. */
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
