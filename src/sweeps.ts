// What the service does by itself in the background, beside delivering webhooks; several processes on one database may.
import type { DatabaseClock } from './db/clock.ts';
import { rebuildEmptied } from './db/queue-indexes.ts';
import { analyzeSmallTables } from './db/statistics.ts';
import type { Deps } from './deps.ts';
import { startUpkeep } from './facts/upkeep.ts';
import { type Loop, startLoop } from './lib/loop.ts';
import { startPruning } from './profile/kept-answers.ts';
import { startExpiry } from './purchases/expiry.ts';

const STATISTICS_REST_MS = 1_000;
const CLOCK_REST_MS = 10_000;
const INDEXES_REST_MS = 10 * 60_000;

function startStatistics({ db, log }: Pick<Deps, 'db' | 'log'>): Loop {
  return startLoop({
    log,
    name: 'statistics',
    async run() {
      await analyzeSmallTables(db);
      return STATISTICS_REST_MS;
    },
  });
}

function startRebuilding({ db, log }: Pick<Deps, 'db' | 'log'>): Loop {
  return startLoop({
    log,
    name: 'indexes of queues',
    async run() {
      await rebuildEmptied(db);
      return INDEXES_REST_MS;
    },
  });
}

function followClock({ log }: Pick<Deps, 'log'>, clock: DatabaseClock): Loop {
  return startLoop({
    log,
    name: 'clock',
    async run() {
      // A database that is away is told of by others.
      await clock.read().catch(() => undefined);
      return CLOCK_REST_MS;
    },
  });
}

export function startSweeps(deps: Pick<Deps, 'db' | 'log' | 'now'>, clock: DatabaseClock): Loop {
  const loops = [
    followClock(deps, clock),
    startExpiry(deps),
    startUpkeep(deps),
    startPruning(deps),
    startStatistics(deps),
    startRebuilding(deps),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
