// What the service does by itself in the background, beside delivering webhooks; several processes on one database may.
import { analyzeSmallTables } from './db/statistics.ts';
import type { Deps } from './deps.ts';
import { startUpkeep } from './facts/upkeep.ts';
import { type Loop, startLoop } from './lib/loop.ts';
import { startPruning } from './profile/kept-answers.ts';
import { startExpiry } from './purchases/expiry.ts';

const STATISTICS_REST_MS = 1_000;

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

export function startSweeps(deps: Pick<Deps, 'db' | 'log' | 'now'>): Loop {
  const loops = [startExpiry(deps), startUpkeep(deps), startPruning(deps), startStatistics(deps)];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
