// The background work on facts: adding them to the totals, keeping these in columns, bringing labels to facts and moved facts to their
// totals, one after the other, so that they do not wait for each other's locks. Charts do not wait for any.
import type { Deps } from '../deps.ts';
import { type Loop, startLoop } from '../lib/loop.ts';
import { createQuiet, createRest, resting } from '../lib/rest.ts';
import { createSteps } from '../lib/steps.ts';
import { createFailedMonths } from './column-groups.ts';
import { refreshColumns, tidyColumns } from './columns.ts';
import { refreshInstallColumns } from './install-columns.ts';
import { LABELS_BATCH, relabelBatch } from './relabel.ts';
import { MOVES_BATCH, type Refreshed, refreshMoves, refreshTotals, sizeOfNextBatch, TOTALS_BATCH } from './totals.ts';

const IDLE_MS = 500;
/** Shares of the event loop's time from which its process is busy. Charts lose more by late totals than by late labels. */
const BUSY = { facts: 0.4, labels: 0.05 };
/** A round over many apps goes on with the others after its rest, which is up to nine times as long as the round was. */
const ROUND_MS = 2_000;
/** A look that finds nothing rests so many times as long as it took: at installs it counts all changes that wait each time, at facts all months of all apps. */
const LOOKING_REST = 100;
/** Charts of new facts wait for their columns. */
const LONGEST_LOOKING_REST_MS = { facts: 5_000, installs: 60_000, tidying: 60_000 };
/** Moved facts wait no longer for more of them, while labels go on coming. */
const MOVES_WAIT_MS = 5 * 60_000;
/**
 * Columns are tidied in a tenth of the time, where requests were few for a minute: a month takes a processor for up to twenty seconds, which a
 * service that was just started under load had to do without.
 */
const TIDYING_REST = 9;
const QUIET = { busy: 0.2, stretchMs: 60_000 };

const NOTHING: Refreshed = { count: 0, longestMs: 0 };

/** Only a look that found nothing rests: one that failed had found something. */
function restAfterLooking(at: keyof typeof LONGEST_LOOKING_REST_MS) {
  return (workedMs: number, done?: number) =>
    done === 0 ? Math.min(LOOKING_REST * workedMs, LONGEST_LOOKING_REST_MS[at]) : 0;
}

export function startUpkeep({ db, log }: Pick<Deps, 'db' | 'log'>, quiet = QUIET): Loop {
  const rest = createRest(BUSY.facts);
  let batch = TOTALS_BATCH;
  const round = { after: 0, hasMore: false, mostMs: ROUND_MS };

  const failed = { facts: createFailedMonths(), installs: createFailedMonths() };
  /** While an app's labels cannot be brought to its facts, they do not count as work that is left: the others are tidied. */
  const turn = { after: 0, hasMore: true };
  let movedAt = performance.now();
  /** Moved facts wait until there are many, or no more to come. */
  const labels = resting(async () => {
    const steps = createSteps();
    const count = await steps.attempt(relabelBatch(db, LABELS_BATCH, turn), 0);
    const areDue = !turn.hasMore || performance.now() - movedAt > MOVES_WAIT_MS;
    if (areDue) movedAt = performance.now();
    const moved = await steps.attempt(refreshMoves(db, areDue ? 1 : MOVES_BATCH), NOTHING);
    steps.throwFailures();
    return count + moved.count;
  }, createRest(BUSY.labels));

  const columns = resting(() => refreshColumns(db, {}, failed.facts), restAfterLooking('facts'));
  const installs = resting(() => refreshInstallColumns(db, {}, failed.installs), restAfterLooking('installs'));

  const isQuiet = createQuiet(quiet);
  const tidyingLooked = restAfterLooking('tidying');
  const tidying = resting(
    () => tidyColumns(db),
    (workedMs, done) => Math.max(tidyingLooked(workedMs, done), TIDYING_REST * workedMs),
  );

  return startLoop({
    log,
    name: 'facts',
    async run() {
      const began = performance.now();
      const steps = createSteps();
      const totalled = await steps.attempt(refreshTotals(db, batch, round), undefined);
      const added = totalled?.count ?? 0;
      const isFull = added >= batch;
      batch = sizeOfNextBatch(batch, totalled);
      const made = await steps.attempt(columns.run(), 0);
      const installed = await steps.attempt(installs.run(), 0);
      // Labels rest by themselves, and much longer: new facts do not wait for that.
      const restMs = rest(performance.now() - began);
      const labelsRestMs = labels.restsFor();
      // They wait until the totals have done what they have.
      const labelled = isFull ? 0 : await steps.attempt(labels.run(), 0);
      const hasMore = isFull || round.hasMore || made > 0 || turn.hasMore;
      if (isQuiet() && !hasMore) await steps.attempt(tidying.run(), 0);
      steps.throwFailures();
      if (added + made + installed + labelled > 0) return restMs;
      return labelsRestMs > 0 ? Math.min(labelsRestMs, IDLE_MS) : IDLE_MS;
    },
  });
}
