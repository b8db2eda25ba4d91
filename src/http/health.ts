// /healthz: the process runs. /readyz: it can serve: the database answers and has every migration.
import type { FastifyInstance } from 'fastify';
import { compareMigrations } from '../db/migrate.ts';
import type { Deps } from '../deps.ts';
import { apiError } from '../errors.ts';

async function checkReady(deps: Deps): Promise<void> {
  const { missing } = await compareMigrations(deps.db);
  if (missing.length > 0) throw apiError('unavailable');
}

export function registerHealth(app: FastifyInstance, deps: Deps): { startDraining: () => void } {
  let isDraining = false;
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    if (isDraining) throw apiError('unavailable');
    await checkReady(deps);
    return { status: 'ready' };
  });
  return {
    startDraining: () => {
      isDraining = true;
    },
  };
}
