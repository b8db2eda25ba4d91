// Starts the service in order (database, migrations, listeners, deliveries) and stops it in reverse.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type AppParts, buildApp } from './app.ts';
import type { Config } from './config.ts';
import { openClock } from './db/clock.ts';
import { migrateToLatest } from './db/migrate.ts';
import { openDatabase } from './db/open.ts';
import { createServerRun, TAKES_NO_WRITES, takesWrites } from './db/server-run.ts';
import type { Deps } from './deps.ts';
import { createSteps } from './lib/steps.ts';
import { OperatorError } from './operator-error.ts';
import { openPools } from './pools.ts';
import { startSweeps } from './sweeps.ts';
import { VERSION } from './version.ts';
import { startDispatcher } from './webhooks/dispatcher.ts';

const CLOSE_IDLE_EVERY_MS = 100;
/** If localhost has a second address, Fastify would make a second server for it, without our connection limits. */
const LOOPBACK = '127.0.0.1';
/**
 * Together well below the time after which lifecycle.ts ends the process, so that the embedded server is always asked
 * to stop (unless it is recovering). Its last checkpoint may outlive the process.
 */
const STOPPING = { requestsMs: 15_000, workMs: 16_000, poolsMs: 3_000 };

export interface Service {
  deps: Deps;
  connectionString: string;
  /** `{base_url}` and `{admin_url}`: the same unless ADMIN_PORT is set. */
  baseUrl: string;
  adminUrl: string;
  /** Fails readiness, finishes requests and deliveries, then releases the database. */
  stop: () => Promise<void>;
}

type Stop = () => Promise<unknown>;

/**
 * Starts the service. Once `ending` is aborted, it gives up between two of its steps or while migrations wait, undoes
 * what it has done, and throws.
 */
export async function startService(config: Config, log: Logger, ending: AbortSignal): Promise<Service> {
  const stops: Stop[] = [];
  const stop = async () => {
    // The database is released, whatever becomes of the others.
    const steps = createSteps();
    for (const one of stops.splice(0).reverse()) await steps.attempt(one(), undefined);
    steps.throwFailures();
  };
  try {
    return { ...(await startParts(config, log, { stops, ending })), stop };
  } catch (error) {
    await stop().catch((err: unknown) => log.warn({ err }, 'could not stop what had been started'));
    throw error;
  }
}

/** Adds to `stops` how to undo each step, as soon as the step is done. */
async function startParts(
  config: Config,
  log: Logger,
  { stops, ending }: { stops: Stop[]; ending: AbortSignal },
): Promise<Omit<Service, 'stop'>> {
  log.info({ version: VERSION }, 'starting');
  const database = await openDatabase(config, { log, role: 'service' });
  stops.push(database.close);
  ending.throwIfAborted();
  const { connectionString } = database;
  const migrated = await migrateToLatest(connectionString, { report: (words) => log.info(words), signal: ending });
  if (migrated.length > 0) log.info({ migrations: migrated }, 'database migrated');
  ending.throwIfAborted();

  const serverRun = createServerRun();
  const pools = openPools(config, log, { connectionString, onConnect: serverRun.onConnect });
  const poolStops = new Map(Object.entries(pools).map(([name, one]) => [name, () => one.destroy()]));
  stops.push(() => stopAll(poolStops, STOPPING.poolsMs, log));
  const clock = await openClock(pools.db, log);
  // The service waits, not ready, until the replica takes over.
  if (!(await takesWrites(pools.db))) log.warn(TAKES_NO_WRITES);
  const deps: Deps = { ...pools, serverRun, config, log, now: clock.now };
  // Stopped concurrently, because each may take long.
  const workStops = new Map<string, Stop>();
  stops.push(() => stopAll(workStops, STOPPING.workMs, log));
  workStops.set('deliveries', startDispatcher({ ...deps, connectionString }).stop);
  workStops.set('sweeps', startSweeps(deps, clock).stop);

  const { HOST, PORT, ADMIN_PORT } = config;
  const isSplit = ADMIN_PORT !== undefined;
  const base = await buildApp(deps, isSplit ? ['base'] : ['base', 'admin']);
  const admin = isSplit ? await buildApp(deps, ['admin']) : undefined;
  const parts = admin ? [base, admin] : [base];
  workStops.set('requests', () => Promise.all(parts.map(({ app }) => closeServer(app))));
  ending.throwIfAborted();
  const baseUrl = await listen(base.app, HOST, PORT);
  const adminUrl = admin ? await listen(admin.app, HOST, ADMIN_PORT ?? 0) : baseUrl;
  stops.push(() => failReadiness(parts, config.SHUTDOWN_DELAY_MS));
  return { deps, connectionString, baseUrl, adminUrl };
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({
      host: host === 'localhost' ? LOOPBACK : host,
      port,
      listenTextResolver: (address) => `listening at ${address}`,
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!code) throw error;
    const reason = code === 'EADDRINUSE' ? 'another program is listening there' : code;
    throw new OperatorError(
      `Cannot listen on ${host}:${port} (${reason}): set HOST, PORT or ADMIN_PORT to a free address.`,
    );
  }
}

async function failReadiness(parts: readonly AppParts[], delayMs: number): Promise<void> {
  for (const { startDraining } of parts) startDraining();
  await sleep(delayMs);
}

/**
 * Closes the server. Fastify closes the connections that are idle at this moment; those answered later would be kept
 * alive for a minute, and those whose client stops sending and reading would never be closed.
 */
export async function closeServer(app: FastifyInstance): Promise<void> {
  const closing = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  const giveUp = setTimeout(() => app.server.closeAllConnections(), STOPPING.requestsMs);
  try {
    await app.close();
  } finally {
    clearInterval(closing);
    clearTimeout(giveUp);
  }
}

/**
 * Stops all at the same time, but waits no longer than this, and logs what is left then. A failure is thrown only once
 * the rest has ended, too.
 */
async function stopAll(stops: ReadonlyMap<string, Stop>, timeoutMs: number, log: Logger): Promise<void> {
  const left = new Set(stops.keys());
  const stopping = [...stops].map(([name, stop]) => stop().finally(() => left.delete(name)));
  const ended = Promise.allSettled(stopping).then(() => Promise.all(stopping));
  await Promise.race([ended, sleep(timeoutMs, undefined, { ref: false })]);
  if (left.size > 0) log.warn({ left: [...left] }, `not stopped within ${timeoutMs / 1000} s`);
}
