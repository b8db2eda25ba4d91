// The process around a service: started, told to stop by a signal, ended with an exit code.
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { inWords } from './failure.ts';
import { onInterrupts } from './lib/interrupts.ts';

/** For what is under way: a request, a delivery (10 s), mostly the last checkpoint of the embedded server, too. */
const GRACE_MS = 30_000;

interface Running {
  stop: () => Promise<void>;
}

/** Runs until SIGINT or SIGTERM, also while it is still starting; a failed start ends in one sentence and exit code 1. */
export async function runUntilStopped(config: Config, log: Logger, start: () => Promise<Running>): Promise<void> {
  const starting = start();
  const grace = closeWithGrace(
    { delay: GRACE_MS + config.SHUTDOWN_DELAY_MS, logger: lateness(log), skip: ['SIGINT', 'SIGTERM', 'beforeExit'] },
    async ({ err }) => {
      if (err) log.fatal({ err }, 'stopping after an error');
      else log.info('stopping');
      await stop(starting, log);
    },
  );
  onInterrupts(['SIGINT', 'SIGTERM'], { onFirst: grace.close, onAgain: () => process.exit(1) });
  try {
    await starting;
  } catch (error) {
    process.stderr.write(`${inWords(error)}\n`);
    process.exit(1);
  }
}

/** Tells of an end before everything has stopped. */
function lateness(log: Logger) {
  const error = (reason: unknown) =>
    log.error(
      { reason: String(reason) },
      'ended at once; an embedded PostgreSQL that recovers runs on until the next start finds it',
    );
  return { error };
}

async function stop(starting: Promise<Running>, log: Logger): Promise<void> {
  const running = await starting;
  try {
    await running.stop();
    log.info('stopped');
  } catch (err) {
    log.error({ err }, 'did not stop cleanly');
    throw err;
  }
}
