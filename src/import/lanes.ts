// Batches on their way into the database, each in a transaction on a connection of its own: while the facts of one are
// being derived, the next is handed over. Two concurrent batches have nothing in common, so it does not matter which
// commits first, or whether one is cut off or retried.
import type { Session } from '../db/session.ts';

/** What a batch concerns; a batch without names is written alone. */
export type Names = ReadonlySet<string> | undefined;

export interface BatchJob<R> {
  names: Names;
  /**
   * `onHandedOver` is to be called when the database has all the data it needs, or the first part of it, and only has
   * to work.
   */
  write: (session: Session, onHandedOver: () => void) => Promise<R>;
  /** Reports what was written, in the order of the batches; the batch still has the session to itself. */
  report: (session: Session, result: R) => Promise<void>;
}

export interface Lanes<R> {
  /**
   * Begins as soon as there is room, and returns when the batch is handed over. Earlier failures are thrown here or by
   * `finish`.
   */
  begin: (job: BatchJob<R>) => Promise<void>;
  finish: () => Promise<void>;
  close: () => Promise<void>;
}

interface RunningBatch {
  session: Session;
  names: Names;
  reported: Promise<void>;
}

function shareName(one: Names, other: Names): boolean {
  if (one === undefined || other === undefined) return true;
  for (const name of one) if (other.has(name)) return true;
  return false;
}

export interface LaneOptions {
  first: Session;
  /** How many batches may run concurrently, each on a session of its own. */
  maxConcurrent: number;
  /**
   * Opens another session when a batch finds none free. Not done in advance, because most files have only one batch.
   */
  openSession: () => Promise<Session>;
}

export function createLanes<R>({ first, maxConcurrent, openSession }: LaneOptions): Lanes<R> {
  const sessions = [first];
  /** Oldest first. */
  const inFlight: RunningBatch[] = [];

  async function takeFree(): Promise<Session> {
    const free = sessions.find((session) => !inFlight.some((one) => one.session === session));
    if (free) return free;
    const session = await openSession();
    sessions.push(session);
    return session;
  }

  async function finishOldest(): Promise<void> {
    await inFlight[0]?.reported;
    inFlight.shift();
  }

  return {
    begin: async ({ names, write, report }) => {
      while (inFlight.length === maxConcurrent || inFlight.some((one) => shareName(one.names, names))) {
        await finishOldest();
      }
      const session = await takeFree();
      const before = inFlight.at(-1)?.reported;
      await new Promise<void>((onHandedOver) => {
        const reported = write(session, onHandedOver).then(async (result) => {
          await before;
          await report(session, result);
        });
        // A failure surfaces when it is awaited; until then it must not count as unhandled.
        reported.then(onHandedOver, onHandedOver);
        inFlight.push({ session, names, reported });
      });
    },
    finish: async () => {
      while (inFlight.length > 0) await finishOldest();
    },
    close: async () => {
      await Promise.allSettled(inFlight.map(({ reported }) => reported));
      await Promise.all(sessions.map((session) => session.close()));
    },
  };
}
