// What the service does by itself in the background, beside delivering webhooks; several processes on one database may.
import type { Deps } from './deps.ts';
import { startUpkeep } from './facts/upkeep.ts';
import type { Loop } from './lib/loop.ts';
import { startPruning } from './profile/kept-answers.ts';
import { startExpiry } from './purchases/expiry.ts';

export function startSweeps(deps: Pick<Deps, 'db' | 'log' | 'now'>): Loop {
  const loops = [startExpiry(deps), startUpkeep(deps), startPruning(deps)];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
