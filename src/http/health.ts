// /healthz: the process runs. /readyz: it can serve, so the database answers, takes writes and has every migration.
// A busy process is still ready: taken out of rotation, it would leave its load to the others (docs/decisions/0014).
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { isOutOfConnections, isReadOnly } from '../db/failures.ts';
import { compareMigrations } from '../db/migration-files.ts';
import type { Deps } from '../deps.ts';
import { apiError } from '../errors.ts';

/** Fails if the database takes no writes. The pool then drops the connection, so the next probe uses a new one. */
const WRITE_PROBE = sql`select from schema_migration where false for update`;

async function canServe({ probeDb }: Deps): Promise<boolean> {
  const { missing } = await compareMigrations(probeDb);
  if (missing.length > 0) return false;
  try {
    await WRITE_PROBE.execute(probeDb);
    return true;
  } catch (error) {
    if (isReadOnly(error)) return false;
    throw error;
  }
}

export function registerHealth(app: FastifyInstance, deps: Deps): { startDraining: () => void } {
  let isDraining = false;
  let currentCheck: Promise<boolean> | undefined;
  let wasReady = false;
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (request) => {
    if (isDraining) throw apiError('unavailable');
    // Concurrent probes share one connection and one result.
    currentCheck ??= canServe(deps).finally(() => {
      currentCheck = undefined;
    });
    const isReady = await currentCheck.catch((err: unknown) => {
      request.log.error({ err }, 'the readiness check could not query the database');
      // The other pools may still have their connections, and every process would be found unready at the same time.
      return isOutOfConnections(err) && wasReady;
    });
    wasReady = isReady;
    if (!isReady) throw apiError('unavailable');
    return { status: 'ready' };
  });
  return {
    startDraining: () => {
      isDraining = true;
    },
  };
}
