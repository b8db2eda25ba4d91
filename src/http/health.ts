// /healthz: the process runs. /readyz: it can serve: the database answers and has every migration.
import type { FastifyInstance } from 'fastify';
import { compareMigrations } from '../db/migrate.ts';
import type { Deps } from '../deps.ts';
import { apiError } from '../errors.ts';

async function canServe({ db }: Deps): Promise<boolean> {
  const { missing } = await compareMigrations(db);
  return missing.length === 0;
}

export function registerHealth(app: FastifyInstance, deps: Deps): { startDraining: () => void } {
  let isDraining = false;
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (request) => {
    if (isDraining) throw apiError('unavailable');
    const isReady = await canServe(deps).catch((err: unknown) => {
      request.log.error({ err }, 'the database cannot be asked');
      return false;
    });
    if (!isReady) throw apiError('unavailable');
    return { status: 'ready' };
  });
  return {
    startDraining: () => {
      isDraining = true;
    },
  };
}
