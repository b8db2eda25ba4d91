// A background loop: runs, rests and runs again until it is stopped. A failed round is logged and retried with backoff.
import type { Logger } from 'pino';
import { createBackoff } from './backoff.ts';
import { createWakeUp, type WakeUp } from './wake-up.ts';

export interface Loop {
  stop: () => Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 5_000;

export interface LoopOptions {
  log: Logger;
  name: string;
  /** Does one round; returns the rest before the next, in milliseconds. A long round can ask whether to end early. */
  run: (isStopped: () => boolean) => Promise<number>;
  /** Ends a rest early. */
  wakeUp?: WakeUp;
  /** The rest after a first failure, in milliseconds. */
  firstRetryMs?: number;
}

/** Starts the loop; its `stop` waits for the current round to finish. */
export function startLoop({
  log,
  name,
  run,
  wakeUp = createWakeUp(),
  firstRetryMs = FIRST_RETRY_MS,
}: LoopOptions): Loop {
  const backoff = createBackoff(firstRetryMs, MAX_RETRY_MS);
  let isStopped = false;

  async function runOnce(): Promise<number> {
    try {
      const restMs = await run(() => isStopped);
      backoff.reset();
      return restMs;
    } catch (error) {
      log.warn({ err: error, loop: name }, 'background work failed; retrying');
      return backoff.next();
    }
  }

  async function go(): Promise<void> {
    while (!isStopped) await wakeUp.wait(await runOnce());
  }

  const going = go();
  return {
    stop: async () => {
      isStopped = true;
      wakeUp.wake();
      await going;
    },
  };
}
