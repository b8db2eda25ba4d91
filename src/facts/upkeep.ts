// The background work on facts: adding them to the totals, writing columns, relabelling, and adding moved facts to the
// totals. These tasks run one after the other, so that none waits for another's locks. Charts wait for none of them.
import type { Deps } from '../deps.ts';
import { type Loop, startLoop } from '../lib/loop.ts';
import { createQuietCheck, createRest, createRestingStep } from '../lib/rest.ts';
import { createSteps } from '../lib/steps.ts';
import { createFailedMonths } from './column-groups.ts';
import { refreshColumns, tidyColumns } from './columns.ts';
import { refreshInstallColumns } from './install-columns.ts';
import { LABELS_BATCH, relabelBatch } from './relabel.ts';
import { MOVES_BATCH, nextBatchSize, type Refreshed, refreshMoves, refreshTotals, TOTALS_BATCH } from './totals.ts';

const IDLE_MS = 500;
/**
 * The process counts as busy when its event loop is at work for more than this share of the time. Late totals slow
 * charts down more than late labels.
 */
const BUSY = { facts: 0.4, labels: 0.05 };
/** A round over many apps stops after this long, rests for up to nine times as long, and goes on with the others. */
const ROUND_MS = 2_000;
/**
 * After a check that finds nothing, rest for this many times as long as the check took: checking installs counts every
 * pending change, checking facts visits every month of every app.
 */
const IDLE_CHECK_REST = 100;
/** The longest such rests. Facts have the shortest, because charts of new facts are slow until their columns exist. */
const MAX_IDLE_CHECK_REST_MS = { facts: 5_000, installs: 60_000, tidying: 60_000 };
/** While labels keep coming, moved facts wait no longer than this for others to join them. */
const MOVES_WAIT_MS = 5 * 60_000;
/**
 * Tidying columns takes a tenth of the time at most, and runs only after a minute with few requests: a month keeps a
 * CPU busy for up to twenty seconds, which a service that had just been started under load could not spare.
 */
const TIDYING_REST = 9;
const QUIET = { busy: 0.2, stretchMs: 60_000 };

const NOTHING: Refreshed = { count: 0, slowestMs: 0 };

/** Makes a step rest only after a check that found nothing; a check that failed had found something. */
function restAfterIdleCheck(at: keyof typeof MAX_IDLE_CHECK_REST_MS) {
  return (workedMs: number, done?: number) =>
    done === 0 ? Math.min(IDLE_CHECK_REST * workedMs, MAX_IDLE_CHECK_REST_MS[at]) : 0;
}

export function startUpkeep({ db, log }: Pick<Deps, 'db' | 'log'>, quiet = QUIET): Loop {
  const rest = createRest(BUSY.facts);
  let batch = TOTALS_BATCH;
  const round = { after: 0, hasMore: false, maxMs: ROUND_MS };

  const failed = { facts: createFailedMonths(), installs: createFailedMonths() };
  /** Labels of an app that cannot be relabelled do not count as work left to do, so columns are tidied regardless. */
  const turn = { after: 0, hasMore: true };
  let movedAt = performance.now();
  /** Moved facts wait until there are many, until no more will come, or until they have waited long enough. */
  const labels = createRestingStep(async () => {
    const steps = createSteps();
    const count = await steps.attempt(relabelBatch(db, LABELS_BATCH, turn), 0);
    const areDue = !turn.hasMore || performance.now() - movedAt > MOVES_WAIT_MS;
    if (areDue) movedAt = performance.now();
    const moved = await steps.attempt(refreshMoves(db, areDue ? 1 : MOVES_BATCH), NOTHING);
    steps.throwFailures();
    return count + moved.count;
  }, createRest(BUSY.labels));

  const columns = createRestingStep(() => refreshColumns(db, {}, failed.facts), restAfterIdleCheck('facts'));
  const installs = createRestingStep(
    () => refreshInstallColumns(db, {}, failed.installs),
    restAfterIdleCheck('installs'),
  );

  const isQuiet = createQuietCheck(quiet);
  const restAfterTidyingCheck = restAfterIdleCheck('tidying');
  const tidying = createRestingStep(
    () => tidyColumns(db),
    (workedMs, done) => Math.max(restAfterTidyingCheck(workedMs, done), TIDYING_REST * workedMs),
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
      batch = nextBatchSize(batch, totalled);
      const columnsRefreshed = await steps.attempt(columns.run(), 0);
      const installsRefreshed = await steps.attempt(installs.run(), 0);
      // Relabelling has a rest of its own, which is much longer: new facts do not wait for it.
      const restMs = rest(performance.now() - began);
      const labelsRestMs = labels.restsFor();
      // Labels wait until the totals have caught up.
      const labelled = isFull ? 0 : await steps.attempt(labels.run(), 0);
      const hasMore = isFull || round.hasMore || columnsRefreshed > 0 || turn.hasMore;
      if (isQuiet() && !hasMore) await steps.attempt(tidying.run(), 0);
      steps.throwFailures();
      if (added + columnsRefreshed + installsRefreshed + labelled > 0) return restMs;
      return labelsRestMs > 0 ? Math.min(labelsRestMs, IDLE_MS) : IDLE_MS;
    },
  });
}
