// /healthz: the process runs. /readyz: it can serve: the database answers, takes writes and has every migration. A process that is busy is ready: taken
// out of rotation, it would leave its load to the others (docs/decisions/0014).
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { compareMigrations } from '../db/migrate.ts';
import { TAKES_WRITES } from '../db/server-run.ts';
import type { Deps } from '../deps.ts';
import { apiError } from '../errors.ts';

async function canServe({ probeDb }: Deps): Promise<boolean> {
  const { missing } = await compareMigrations(probeDb);
  const { rows } = await sql<{ takes_writes: boolean }>`select ${TAKES_WRITES} as takes_writes`.execute(probeDb);
  return missing.length === 0 && rows[0]!.takes_writes;
}

export function registerHealth(app: FastifyInstance, deps: Deps): { startDraining: () => void } {
  let isDraining = false;
  let asking: Promise<boolean> | undefined;
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (request) => {
    if (isDraining) throw apiError('unavailable');
    // Those who ask at once share the connection and the answer.
    asking ??= canServe(deps).finally(() => {
      asking = undefined;
    });
    const isReady = await asking.catch((err: unknown) => {
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
