// The dispatcher: claims due deliveries in batches, sends them, and settles the results in groups. Any number of
// dispatchers may work on one database.
import { randomUUID } from 'node:crypto';
import type { Deps } from '../deps.ts';
import { startLoop } from '../lib/loop.ts';
import { inSlices } from '../lib/slices.ts';
import { createWakeUp } from '../lib/wake-up.ts';
import { createSender, type SenderOverrides } from './delivery.ts';
import { policyOf } from './destinations.ts';
import { createLeases } from './leases.ts';
import { listenForNudges } from './listener.ts';
import { attemptSeconds } from './metrics.ts';
import { settlementOf } from './outcome.ts';
import { type Claimed, type ClaimLimits, claimDue, PUT_OFF_BEHIND_RUNNING_MS } from './queue.ts';
import { openQueuePool } from './queue-pool.ts';
import { startRetention } from './retention.ts';
import { NOTICED_WITHIN_S } from './schedule.ts';
import { readSecrets, type Secrets } from './secrets.ts';
import { createSettler } from './settler.ts';
import { createTurns, type TurnLimits } from './turns.ts';
import { createPostponer } from './unreadable-secrets.ts';

export interface DispatcherDeps extends Pick<Deps, 'db' | 'config' | 'log' | 'now'> {
  /** For the queue's own connections and the listener's. */
  connectionString: string;
}

/** Dependencies outside the process, timings and limits. Tests replace them. */
export interface DispatcherOverrides extends SenderOverrides {
  random?: () => number;
  /** How often the queue is polled if no nudge comes. */
  pollMs?: number;
  /** How long a lease lasts unless renewed. It is renewed every third of this. */
  leaseMs?: number;
  limits?: Partial<ClaimLimits & Pick<TurnLimits, 'ahead'>>;
}

export interface Dispatcher {
  /** Claims nothing more, finishes the attempts in progress and settles them. */
  stop: () => Promise<void>;
}

const LIMITS = { total: 2048, perEndpoint: 32, ahead: 224, ailingAfter: 5, ailingSlots: 2 };
const POLL_MS = NOTICED_WITHIN_S * 1000;
const LEASE_MS = 30_000;
const EXTRA_ROWS = 256;
/**
 * How many attempts begin in one turn of the event loop. Each takes a third of a millisecond to begin, so beginning all
 * that one claim may return, for many endpoints, would hold up requests.
 */
const SENDS_PER_TURN = 100;
const FIRST_RETRY_MS = 100;
const SETTLE_ON_STOP_MS = 5_000;

/** Starts delivering. The dispatcher is nudged when events are stored, and also polls the queue. */
export function startDispatcher(deps: DispatcherDeps, overrides: DispatcherOverrides = {}): Dispatcher {
  const { config, log, now, connectionString } = deps;
  const queueDb = openQueuePool(connectionString, log);
  const { random = Math.random, pollMs = POLL_MS, leaseMs = LEASE_MS, resolve, deadlineMs } = overrides;
  const { ahead, ...limits } = { ...LIMITS, ...overrides.limits };
  const sender = createSender({ policy: policyOf(config), now, resolve, deadlineMs });
  const wakeUp = createWakeUp();
  const leases = createLeases(deps, leaseMs);
  let extraRows = 0;
  /**
   * When deliveries that were put off become due again, in case it goes unnoticed that those ahead of them have
   * finished; in milliseconds since 1970.
   */
  let putOffUntil = 0;

  const settler = createSettler({ ...deps, queueDb }, (deliveries) => {
    for (const delivery of deliveries) leases.release(delivery);
    wakeUp.wake();
  });
  const turns = createTurns({ maxConcurrent: limits.perEndpoint, ahead, send, giveBack: settler.giveBack });
  const postpone = createPostponer(deps);
  const listener = listenForNudges(connectionString, wakeUp.wake, log);
  const retention = startRetention(deps);

  /** Attempts the delivery. Returns whether it succeeded. */
  async function send(delivery: Claimed): Promise<boolean> {
    const { url, event_id: id, body } = delivery;
    if (!leases.isSafe(delivery)) {
      settler.giveBack([delivery]);
      return false;
    }
    let secrets: Secrets;
    try {
      secrets = readSecrets(delivery, config, now());
    } catch (error) {
      await postpone(delivery, (error as Error).message);
      leases.release(delivery);
      return false;
    }
    const { signing, authorization } = secrets;
    const attempt = await sender.send({ url, authorization, secrets: signing, id, body });
    attemptSeconds.observe({ app_id: delivery.app_id }, attempt.seconds);
    const settlement = settlementOf(delivery, attempt, { at: now(), random: random() });
    settler.add(delivery, settlement);
    return settlement.state === 'delivered';
  }

  /** Claims what there is room for and starts sending it. Returns how long to wait before claiming again. */
  async function takeDue(): Promise<number> {
    const room = limits.total - leases.size;
    if (room <= 0) return pollMs;
    const began = now();
    const leaseUntil = new Date(began.getTime() + leaseMs);
    const { claimed, putOff: putOffCount } = await claimDue(queueDb, {
      ...limits,
      total: room,
      now: began,
      leaseUntil,
      claimId: randomUUID(),
      held: leases.count(),
      ahead: turns.countAhead(),
      extraRows,
    });
    extraRows = putOffCount > 0 ? EXTRA_ROWS : 0;
    for (const delivery of claimed) leases.hold(delivery, leaseUntil);
    await inSlices(claimed, SENDS_PER_TURN, turns.take);
    if (putOffCount > 0) {
      putOffUntil = began.getTime() + PUT_OFF_BEHIND_RUNNING_MS;
      // More may be due beyond those that were put off.
      if (claimed.length > 0) return 0;
    }
    const putOffMs = putOffUntil - began.getTime();
    return putOffMs > 0 ? Math.min(putOffMs, pollMs) : pollMs;
  }

  const loop = startLoop({ log, name: 'webhook queue', run: takeDue, wakeUp, firstRetryMs: FIRST_RETRY_MS });
  return {
    async stop() {
      // These may take long: a statement of the sweep, a connect. What is claimed does not wait for them.
      const others = [listener.stop(), retention.stop()];
      await loop.stop();
      await turns.stop();
      await settler.drain(SETTLE_ON_STOP_MS);
      leases.stop();
      await Promise.all([sender.close(), queueDb.destroy(), ...others]);
    },
  };
}
