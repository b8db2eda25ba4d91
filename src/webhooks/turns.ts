// Claimed deliveries that wait for their turn. Few are sent to an endpoint concurrently. For one that takes them fast,
// more are claimed ahead, so that the next are at hand while the last results are written and the queue is read.
import type { Claimed } from './queue.ts';

export interface TurnLimits {
  /** How many deliveries to one endpoint may be in progress. */
  maxConcurrent: number;
  /** How many more may be claimed for one endpoint. */
  ahead: number;
}

export interface Turns {
  /** Sends the delivery, now or when its endpoint has room. */
  take: (delivery: Claimed) => void;
  /**
   * Returns how many may be claimed ahead, by endpoint: as many as it took in the current moment and the last. Forgets
   * endpoints that took none and have nothing in progress.
   */
  countAhead: () => Map<string, number>;
  /** Gives back the waiting deliveries. Resolves when none is in progress. */
  stop: () => Promise<void>;
}

export interface TurnParts extends TurnLimits {
  /** Resolves to whether the delivery succeeded. Never rejects. */
  send: (delivery: Claimed) => Promise<boolean>;
  /** Takes deliveries that are not sent after all: their endpoint failed or became slow, or the process is stopping. */
  giveBack: (deliveries: readonly Claimed[]) => void;
  /** Milliseconds. */
  clock?: () => number;
}

/** The unit in which an endpoint's pace is counted: it takes what is claimed ahead within about two of these. */
const MOMENT_MS = 125;
/**
 * A delivery that has waited longer is given back, so that it is read again before it is sent: its endpoint may have
 * been disabled, or its profile deleted.
 */
const MAX_WAIT_MS = 1_000;

interface Waiting {
  delivery: Claimed;
  since: number;
}

interface Lane {
  inFlight: number;
  waiting: Waiting[];
  /** The current moment, and how many deliveries succeeded in it and in the one before. */
  moment: number;
  delivered: number;
  deliveredBefore: number;
}

function advanceTo(lane: Lane, moment: number): void {
  if (moment === lane.moment) return;
  lane.deliveredBefore = moment === lane.moment + 1 ? lane.delivered : 0;
  lane.delivered = 0;
  lane.moment = moment;
}

function takeWaiting(lane: Lane): Claimed[] {
  return lane.waiting.splice(0).map(({ delivery }) => delivery);
}

export function createTurns({
  maxConcurrent,
  ahead,
  send,
  giveBack,
  clock = () => performance.now(),
}: TurnParts): Turns {
  const lanes = new Map<string, Lane>();
  const sending = new Set<Promise<void>>();
  /** Lanes that have room for waiting deliveries. */
  const ready = new Set<Lane>();
  const currentMoment = () => Math.floor(clock() / MOMENT_MS);

  function laneOf(webhookId: string): Lane {
    const known = lanes.get(webhookId);
    if (known) return known;
    const lane: Lane = { inFlight: 0, waiting: [], moment: currentMoment(), delivered: 0, deliveredBefore: 0 };
    lanes.set(webhookId, lane);
    return lane;
  }

  async function run(lane: Lane, delivery: Claimed): Promise<void> {
    lane.inFlight++;
    const isDelivered = await send(delivery);
    lane.inFlight--;
    advanceTo(lane, currentMoment());
    if (isDelivered) {
      lane.delivered++;
    } else {
      lane.delivered = 0;
      lane.deliveredBefore = 0;
    }
    const [next] = lane.waiting;
    if (!next) return;
    if (isDelivered && clock() - next.since <= MAX_WAIT_MS) beginSoon(lane);
    else giveBack(takeWaiting(lane));
  }

  /**
   * Begins the next sends together for all lanes whose responses are read in this turn of the event loop. Beginning
   * them one by one took a tenth more CPU time.
   */
  function beginSoon(lane: Lane): void {
    if (ready.size === 0) setImmediate(beginReady);
    ready.add(lane);
  }

  function beginReady(): void {
    for (const lane of ready) {
      for (const { delivery } of lane.waiting.splice(0, maxConcurrent - lane.inFlight)) begin(lane, delivery);
    }
    ready.clear();
  }

  function begin(lane: Lane, delivery: Claimed): void {
    const sent = run(lane, delivery).finally(() => sending.delete(sent));
    sending.add(sent);
  }

  return {
    take(delivery) {
      const lane = laneOf(delivery.webhook_id);
      if (lane.inFlight < maxConcurrent) begin(lane, delivery);
      else lane.waiting.push({ delivery, since: clock() });
    },
    countAhead() {
      const counts = new Map<string, number>();
      for (const [webhookId, lane] of lanes) {
        advanceTo(lane, currentMoment());
        const lately = lane.delivered + lane.deliveredBefore;
        if (lately > 0) counts.set(webhookId, Math.min(ahead, lately));
        else if (lane.inFlight + lane.waiting.length === 0) lanes.delete(webhookId);
      }
      return counts;
    },
    async stop() {
      giveBack([...lanes.values()].flatMap(takeWaiting));
      await Promise.all(sending);
    },
  };
}
