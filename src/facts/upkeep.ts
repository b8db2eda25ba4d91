// The background work on facts: bringing labels to them, adding them to the totals and keeping these in columns, one after the other,
// so that they do not wait for each other's locks. Charts do not wait for any.
import type { Deps } from '../deps.ts';
import { type Loop, startLoop } from '../lib/loop.ts';
import { createRest } from '../lib/rest.ts';
import { refreshColumns } from './columns.ts';
import { relabelBatch } from './relabel.ts';
import { refreshTotals } from './totals.ts';

const IDLE_MS = 500;

export function startUpkeep({ db, log }: Pick<Deps, 'db' | 'log'>): Loop {
  const restAfter = createRest();
  return startLoop({
    log,
    name: 'facts',
    async run() {
      const began = performance.now();
      const done = (await relabelBatch(db)) + (await refreshTotals(db)) + (await refreshColumns(db));
      return done === 0 ? IDLE_MS : restAfter(performance.now() - began);
    },
  });
}
