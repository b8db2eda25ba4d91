// What the service does by itself in the background, besides delivering webhooks. Several processes on one database may
// do so concurrently.
import type { Logger } from 'pino';
import { startPruning } from './changes/kept-responses.ts';
import type { DatabaseClock } from './db/clock.ts';
import { rebuildEmptied } from './db/queue-indexes.ts';
import { analyzeApps, analyzeSmallTables } from './db/statistics.ts';
import type { Deps } from './deps.ts';
import { startUpkeep } from './facts/upkeep.ts';
import { type Loop, startLoop } from './lib/loop.ts';
import { startDueLoop } from './purchases/due-loop.ts';

const STATISTICS_REST_MS = 1_000;
const APPS_REST_MS = 30_000;
/**
 * How long the service may lag behind a change of its database's clock. Meanwhile, purchases made now count as later,
 * and grants wait.
 */
const CLOCK_REST_MS = 1_000;
const INDEXES_REST_MS = 10 * 60_000;

/** Repeats the work, with a rest in between. */
function repeat(log: Logger, name: string, { restMs, work }: { restMs: number; work: () => Promise<unknown> }): Loop {
  return startLoop({
    log,
    name,
    async run() {
      await work();
      return restMs;
    },
  });
}

export function startSweeps(deps: Pick<Deps, 'db' | 'log' | 'now'>, clock: DatabaseClock): Loop {
  const { db, log } = deps;
  const loops = [
    // Other loops report a database that is away.
    repeat(log, 'clock', { restMs: CLOCK_REST_MS, work: () => clock.read().catch(() => undefined) }),
    startDueLoop(deps),
    startUpkeep(deps),
    startPruning(deps),
    repeat(log, 'statistics', { restMs: STATISTICS_REST_MS, work: () => analyzeSmallTables(db) }),
    repeat(log, 'app statistics', { restMs: APPS_REST_MS, work: () => analyzeApps(db) }),
    repeat(log, 'queue indexes', { restMs: INDEXES_REST_MS, work: () => rebuildEmptied(db) }),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
