// The background work on facts: adding them to the totals, keeping these in columns, bringing labels to facts and moved facts to their
// totals, one after the other, so that they do not wait for each other's locks. Charts do not wait for any.
import type { Deps } from '../deps.ts';
import { type Loop, startLoop } from '../lib/loop.ts';
import { createRest } from '../lib/rest.ts';
import { createSteps } from '../lib/steps.ts';
import { refreshColumns } from './columns.ts';
import { refreshInstallColumns } from './install-columns.ts';
import { LABELS_BATCH, relabelBatch } from './relabel.ts';
import { MOVES_BATCH, refreshMoves, refreshTotals, TOTALS_BATCH } from './totals.ts';

const IDLE_MS = 500;
/** Shares of the event loop's time from which its process is busy. Charts lose more by late totals than by late labels. */
const BUSY = { facts: 0.4, labels: 0.05 };
/** A look for installs that finds nothing has counted all changes that wait; the next comes after so many times as long. */
const INSTALLS_REST = 100;

export function startUpkeep({ db, log }: Pick<Deps, 'db' | 'log'>): Loop {
  const rest = createRest(BUSY.facts);
  const restOfLabels = createRest(BUSY.labels);
  let labelsFrom = 0;
  let installsFrom = 0;
  let hasMoreLabels = false;

  /** Labels wait until the totals have done what they have, and moved facts until there are many, or no more to come. */
  async function bringLabels(totalled: number): Promise<number> {
    const began = performance.now();
    if (totalled >= TOTALS_BATCH || began < labelsFrom) return 0;
    const labels = await relabelBatch(db);
    hasMoreLabels = labels === LABELS_BATCH;
    const moves = await refreshMoves(db, hasMoreLabels ? MOVES_BATCH : 1);
    const ended = performance.now();
    labelsFrom = ended + restOfLabels(ended - began);
    return labels + moves;
  }

  async function refreshInstalls(): Promise<number> {
    const began = performance.now();
    if (began < installsFrom) return 0;
    const done = await refreshInstallColumns(db);
    const ended = performance.now();
    if (done === 0) installsFrom = ended + INSTALLS_REST * (ended - began);
    return done;
  }

  return startLoop({
    log,
    name: 'facts',
    async run() {
      const began = performance.now();
      const steps = createSteps();
      const totalled = await steps.take(refreshTotals(db));
      const columns = await steps.take(refreshColumns(db));
      const installs = await steps.take(refreshInstalls());
      const labels = await steps.take(bringLabels(totalled));
      steps.end();
      return totalled + columns + installs + labels === 0 ? IDLE_MS : rest(performance.now() - began);
    },
  });
}
