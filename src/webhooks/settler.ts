// Writes the results of attempts in groups: while one group is being written, the next one gathers, as with
// attribution. While the database is away, results are kept, and written when it is back.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { type AttemptOutcome, recordHealth, summariseHealth } from './health.ts';
import { attemptCounter } from './metrics.ts';
import { type Claimed, claimName, releaseClaims, type Settlement, settle } from './queue.ts';

export interface Settler {
  add: (delivery: Claimed, settlement: Settlement) => void;
  /** Releases deliveries that were not sent, once the results added before them are written. */
  giveBack: (deliveries: readonly Claimed[]) => void;
  /** Resolves when everything added has been written, or `giveUpMs` after the call; then the rest is not retried. */
  drain: (giveUpMs: number) => Promise<void>;
}

interface Result {
  delivery: Claimed;
  settlement: Settlement;
}

const RETRY_MS = 250;
/** Upper bound of the outcomes kept while they cannot be recorded, and of the endpoints remembered as failing. */
const MAX_OUTCOMES = 10_000;

function logResults(log: Logger, group: readonly Result[]): void {
  for (const { delivery, settlement } of group) {
    const { app_id, webhook_id, event_id } = delivery;
    const details = { app_id, webhook_id, event_id, status: settlement.status, error: settlement.error };
    if (settlement.state === 'pending')
      log.info({ ...details, next_attempt_at: settlement.due_at }, 'webhook attempt failed');
    if (settlement.state === 'dead') log.warn(details, 'webhook delivery is dead');
  }
}

interface SettlerDeps extends Pick<Deps, 'log' | 'now'> {
  queueDb: Kysely<DB>;
}

/** Creates a settler. It calls `onSettled` with each group that has been written or released. */
export function createSettler(
  { queueDb, log, now }: SettlerDeps,
  onSettled: (deliveries: readonly Claimed[]) => void,
): Settler {
  const waiting: Result[] = [];
  const returned: Claimed[] = [];
  const outcomes: AttemptOutcome[] = [];
  /** Endpoints whose last attempt here failed. */
  const failing = new LRUCache<string, true>({ max: MAX_OUTCOMES });
  let running: Promise<void> | undefined;
  let hasGivenUp = false;

  async function write(group: readonly Result[]): Promise<void> {
    const written = await settle(
      queueDb,
      group.map(({ settlement }) => settlement),
      now(),
    );
    const accepted = new Set(written.map(claimName));
    const results = group.filter(({ settlement }) => accepted.has(claimName(settlement)));
    for (const { delivery, settlement } of results) {
      const result = settlement.state === 'pending' ? 'failed' : settlement.state;
      attemptCounter.inc({ app_id: delivery.app_id, result });
    }
    logResults(log, results);
    noteOutcomes(results);
    await recordOutcomes();
  }

  /** Notes what accepted results say about the health of their endpoints. */
  function noteOutcomes(results: readonly Result[]): void {
    for (const { delivery, settlement } of results) {
      const { webhook_id, url, authorization_value } = delivery;
      const { status, attempted_at: at } = settlement;
      const succeeded = settlement.state === 'delivered';
      // A success says nothing new if the endpoint was healthy when this delivery was claimed and has not failed since.
      if (succeeded && !delivery.is_ailing && !failing.has(webhook_id)) continue;
      outcomes.push({ webhook_id, url, authorization_value, succeeded, status, at });
      if (succeeded) failing.delete(webhook_id);
      else failing.set(webhook_id, true);
    }
    outcomes.splice(0, outcomes.length - MAX_OUTCOMES);
  }

  /**
   * Records the health of endpoints before `onSettled` is called, so that nothing more is claimed for one that this
   * suspends. If that fails, as when an endpoint's row stays locked, it is repeated with the next results.
   */
  async function recordOutcomes(): Promise<void> {
    if (outcomes.length === 0) return;
    try {
      const suspended = await recordHealth(queueDb, summariseHealth(outcomes), now());
      outcomes.length = 0;
      for (const { webhook_id, app_id, reason } of suspended) {
        log.warn({ webhook_id, app_id, reason }, 'webhook endpoint suspended');
      }
    } catch (error) {
      log.warn({ err: error }, 'cannot record the health of webhook endpoints; retrying with the next results');
    }
  }

  async function writeNext(): Promise<void> {
    const group = waiting.slice();
    if (group.length === 0) return;
    await write(group);
    waiting.splice(0, group.length);
    onSettled(group.map(({ delivery }) => delivery));
  }

  async function release(group: readonly Claimed[]): Promise<void> {
    if (group.length === 0) return;
    await releaseClaims(queueDb, group, now());
    returned.splice(0, group.length);
    onSettled(group);
  }

  async function run(): Promise<void> {
    do {
      const before = returned.slice();
      try {
        await writeNext();
        await release(before);
      } catch (error) {
        log.warn({ err: error }, 'cannot write webhook results; retrying');
        await sleep(RETRY_MS);
      }
    } while (waiting.length + returned.length > 0 && !hasGivenUp);
    running = undefined;
  }

  return {
    add(delivery, settlement) {
      waiting.push({ delivery, settlement });
      running ??= run();
    },
    giveBack(deliveries) {
      returned.push(...deliveries);
      running ??= run();
    },
    async drain(giveUpMs) {
      await Promise.race([running, sleep(giveUpMs, undefined, { ref: false })]);
      hasGivenUp = true;
    },
  };
}
