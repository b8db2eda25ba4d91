// Checks everything an operator would look at. A check that throws becomes a finding itself, and the others still run.
import { findHome } from '../db/embedded/home.ts';
import type { EmbeddedDatabaseError } from '../db/embedded/problem.ts';
import { isMigrated } from '../db/migration-files.ts';
import type { Deps } from '../deps.ts';
import type { Finding } from './finding.ts';
import { checkDisk, checkMigrations, checkServer } from './server-checks.ts';
import { checkBacklog, checkCharts, checkWebhooks } from './work-checks.ts';

type Check = () => Promise<Finding | Finding[]>;

const EMPTY_DATABASE: Finding = {
  check: 'migrations',
  state: 'warning',
  message: 'The database is empty: start the service, or run `sps migrate`.',
};

async function runCheck(name: string, check: Check): Promise<Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    const message = `The check failed: ${(error as Error).message || (error as { code?: string }).code}.`;
    return [{ check: name, state: 'problem', message }];
  }
}

/** Returns what can be said of an embedded database that cannot be used, and why: its disk may be full. */
export async function examineUnusable(reason: EmbeddedDatabaseError, home: string): Promise<Finding[]> {
  const database: Finding = { check: 'database', state: 'problem', message: reason.message };
  return [database, ...(await runCheck('disk', () => checkDisk(home)))];
}

/** Runs the checks one after another, so that the examination itself adds little load. */
export async function examine(deps: Deps, { charts }: { charts: boolean }): Promise<Finding[]> {
  const { db, config } = deps;
  // If the database cannot be queried, each check reports that itself.
  const hasTables = await isMigrated(db).catch(() => true);
  const checks: Record<string, Check> = {
    database: () => checkServer(deps),
    migrations: async () => (hasTables ? checkMigrations(db) : EMPTY_DATABASE),
    disk: async () => checkDisk(config.DATABASE_URL ? undefined : await findHome(config.SPS_DATA_DIR)),
    ...(hasTables && { webhooks: () => checkWebhooks(deps), totals: () => checkBacklog(deps) }),
    ...(hasTables && charts && { charts: () => checkCharts(deps) }),
  };
  const findings: Finding[] = [];
  for (const [name, check] of Object.entries(checks)) findings.push(...(await runCheck(name, check)));
  return findings;
}
