// Claimed deliveries that wait for their turn. An endpoint is sent few at once; one that takes them fast has more claimed than that, so that
// the next are at hand while the results of the last are written and the queue is read.
import type { Claimed } from './queue.ts';

export interface TurnLimits {
  /** Deliveries under way to one endpoint. */
  atOnce: number;
  /** How many more of one endpoint may be claimed. */
  ahead: number;
}

export interface Turns {
  /** Sends the delivery, now or when its endpoint has room. */
  take: (delivery: Claimed) => void;
  /** How many may be claimed beyond those that are sent at once, by endpoint: what it has lately taken in a moment. */
  countAhead: () => Map<string, number>;
  /** Gives back what waits. Resolves when nothing is under way. */
  stop: () => Promise<void>;
}

export interface TurnParts extends TurnLimits {
  /** Whether it was delivered. Never rejects. */
  send: (delivery: Claimed) => Promise<boolean>;
  /** Told of deliveries that are not sent after all: their endpoint failed or became slow, or the process is stopping. */
  giveBack: (deliveries: readonly Claimed[]) => void;
  /** Milliseconds. */
  clock?: () => number;
}

/** At its pace an endpoint takes what is claimed ahead within about two of these. */
const MOMENT_MS = 125;
/** What has waited longer is read anew before it is sent: its endpoint may have been disabled, or its profile deleted. */
const LONGEST_WAIT_MS = 1_000;

interface Parked {
  delivery: Claimed;
  since: number;
}

interface Lane {
  underway: number;
  waiting: Parked[];
  /** The moment that is being counted, and how many were delivered in it and in the one before. */
  moment: number;
  delivered: number;
  deliveredBefore: number;
}

function moveTo(lane: Lane, moment: number): void {
  if (moment === lane.moment) return;
  lane.deliveredBefore = moment === lane.moment + 1 ? lane.delivered : 0;
  lane.delivered = 0;
  lane.moment = moment;
}

function takeWaiting(lane: Lane): Claimed[] {
  return lane.waiting.splice(0).map(({ delivery }) => delivery);
}

export function createTurns({ atOnce, ahead, send, giveBack, clock = () => performance.now() }: TurnParts): Turns {
  const lanes = new Map<string, Lane>();
  const sending = new Set<Promise<void>>();
  /** Lanes that have room for what waits. */
  const ready = new Set<Lane>();
  const currentMoment = () => Math.floor(clock() / MOMENT_MS);

  function laneOf(webhookId: string): Lane {
    const known = lanes.get(webhookId);
    if (known) return known;
    const made: Lane = { underway: 0, waiting: [], moment: currentMoment(), delivered: 0, deliveredBefore: 0 };
    lanes.set(webhookId, made);
    return made;
  }

  async function run(lane: Lane, delivery: Claimed): Promise<void> {
    lane.underway++;
    const isDelivered = await send(delivery);
    lane.underway--;
    moveTo(lane, currentMoment());
    if (isDelivered) {
      lane.delivered++;
    } else {
      lane.delivered = 0;
      lane.deliveredBefore = 0;
    }
    const [next] = lane.waiting;
    if (!next) return;
    if (isDelivered && clock() - next.since <= LONGEST_WAIT_MS) beginSoon(lane);
    else giveBack(takeWaiting(lane));
  }

  /** For all whose answers are read in this turn of the event loop: to send one by one took a tenth more of the processor. */
  function beginSoon(lane: Lane): void {
    if (ready.size === 0) setImmediate(beginReady);
    ready.add(lane);
  }

  function beginReady(): void {
    for (const lane of ready) {
      for (const { delivery } of lane.waiting.splice(0, atOnce - lane.underway)) begin(lane, delivery);
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
      if (lane.underway < atOnce) begin(lane, delivery);
      else lane.waiting.push({ delivery, since: clock() });
    },
    countAhead() {
      const counts = new Map<string, number>();
      for (const [webhookId, lane] of lanes) {
        moveTo(lane, currentMoment());
        const lately = lane.delivered + lane.deliveredBefore;
        if (lately > 0) counts.set(webhookId, Math.min(ahead, lately));
        else if (lane.underway + lane.waiting.length === 0) lanes.delete(webhookId);
      }
      return counts;
    },
    async stop() {
      giveBack([...lanes.values()].flatMap(takeWaiting));
      await Promise.all(sending);
    },
  };
}
