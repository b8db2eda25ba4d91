// The reference for row 2: the app as it ships, with its hooks, log and metrics, and one more route that does nothing.
// The route needs no key and reads no body, so it shows the least that any request costs.
import type { Deps } from '../../src/deps.ts';

const { buildApp }: typeof import('../../src/app.ts') = await load('app.js');
const { loadConfig }: typeof import('../../src/config.ts') = await load('config.js');
const { createDb }: typeof import('../../src/db/client.ts') = await load('db/client.js');
const { createLog }: typeof import('../../src/log.ts') = await load('log.js');

/** Imports a module of the shipped build, not of the sources. */
function load(file: string) {
  return import(new URL(`../../dist/${file}`, import.meta.url).href);
}

const config = loadConfig();
const log = await createLog(config.LOG_LEVEL);
const settings = { max: config.DATABASE_POOL_SIZE, statementTimeoutMs: 30_000, applicationName: 'sps-bench-empty' };
const db = createDb({ ...settings, connectionString: config.DATABASE_URL ?? '' }, () => undefined);
const pools = { db, lookupDb: db, groupDb: db, analyticsDb: db, probeDb: db };
const deps: Deps = { ...pools, serverRun: { number: 0 }, config, log, now: () => new Date() };

const { app } = await buildApp(deps);
app.post('/bench/empty', { config: { operation: 'Empty' } }, async (_request, reply) => reply.code(201).send());

process.once('SIGTERM', () => {
  void app.close().then(() => db.destroy());
});
process.stdout.write(`ready: ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
