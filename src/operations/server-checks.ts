// The checks of `sps doctor` on the database server, its clock, the migrations and the disk.
import { statfs } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import { compareMigrations } from '../db/migration-files.ts';
import { refusalOfEncoding } from '../db/migration-refusals.ts';
import { TAKES_NO_WRITES } from '../db/server-run.ts';
import { SHARES_SESSIONS, sharesSessions } from '../db/shared-sessions.ts';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { countConnections } from '../pools.ts';
import type { Finding } from './finding.ts';
import { readServerFacts, type ServerFacts } from './queries.ts';

const [OLDEST_MAJOR, NEWEST_MAJOR] = [15, 18];
const SKEW_WARNING_MS = 1_000;
const SKEW_PROBLEM_MS = 30_000;
const CONNECTIONS_WARNING = 0.8;
const GIB = 1024 ** 3;
const FREE_WARNING = { bytes: 5 * GIB, part: 0.1 };
const FREE_PROBLEM_BYTES = GIB;

export async function checkServer({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<Finding[]> {
  if (config.DATABASE_URL && (await sharesSessions(config.DATABASE_URL))) {
    return [{ check: 'database', state: 'problem', message: SHARES_SESSIONS }];
  }
  const before = Date.now();
  const facts = await readServerFacts(db);
  return [
    judgeVersion(facts),
    judgeConnections(facts, countConnections(config)),
    judgeClock(facts.clock_ms - (before + Date.now()) / 2, Date.now() - before),
  ];
}

export function judgeVersion({
  version,
  version_number,
  database_bytes,
  takes_writes,
  encoding,
}: ServerFacts): Finding {
  const major = Math.floor(version_number / 10_000);
  const isKnown = major >= OLDEST_MAJOR && major <= NEWEST_MAJOR;
  const size = `${(database_bytes / GIB).toFixed(2)} GiB`;
  const figures = { version, database_bytes };
  if (!takes_writes) {
    return { check: 'database', state: 'problem', message: TAKES_NO_WRITES, figures };
  }
  const refusal = refusalOfEncoding(encoding);
  if (refusal) return { check: 'database', state: 'problem', message: refusal, figures };
  return {
    check: 'database',
    state: isKnown ? 'ok' : 'warning',
    message: isKnown
      ? `PostgreSQL ${version}, ${size}.`
      : `PostgreSQL ${version} is untested: use ${OLDEST_MAJOR} to ${NEWEST_MAJOR}.`,
    figures,
  };
}

/** `needed` is how many connections a service takes at most. */
export function judgeConnections(facts: ServerFacts, needed: number): Finding {
  const { connections, most_connections, reserved_connections, role_limit, database_limit } = facts;
  const limits = [
    { limit: most_connections - reserved_connections, name: 'max_connections' },
    { limit: role_limit ?? Infinity, name: 'the connection limit of the role' },
    { limit: database_limit ?? Infinity, name: 'the connection limit of the database' },
  ];
  const [lowest] = limits.toSorted((one, other) => one.limit - other.limit) as [(typeof limits)[number]];
  const isNearlyFull = connections > most_connections * CONNECTIONS_WARNING;
  const isScarce = isNearlyFull || needed > lowest.limit;
  return {
    check: 'connections',
    state: isScarce ? 'warning' : 'ok',
    message: `${connections} of ${most_connections} connections are in use, and a service with these settings takes up to ${needed} of ${lowest.limit}${
      isScarce ? `: lower DATABASE_POOL_SIZE or raise ${lowest.name}` : ''
    }.`,
    figures: { connections, most_connections, reserved_connections, role_limit, database_limit, needed },
  };
}

/** `skewMs` is how far the server's clock is ahead of ours. A skew smaller than `roundTripMs` cannot be measured. */
export function judgeClock(skewMs: number, roundTripMs: number): Finding {
  const size = Math.max(0, Math.abs(skewMs) - roundTripMs);
  const state = size > SKEW_PROBLEM_MS ? 'problem' : size > SKEW_WARNING_MS ? 'warning' : 'ok';
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  return {
    check: 'clock',
    state,
    message:
      state === 'ok'
        ? 'The clocks of the database and of this machine agree.'
        : `The database's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's: synchronise both with a time server.`,
    figures: { skew_ms: Math.round(skewMs), round_trip_ms: roundTripMs },
  };
}

export async function checkMigrations(db: Kysely<DB>): Promise<Finding> {
  const { applied, missing, unknown } = await compareMigrations(db);
  const figures = { applied: applied.length, missing: missing.join(', '), unknown: unknown.join(', ') };
  if (unknown.length > 0) {
    const message = `The database was migrated by a newer version (${figures.unknown}): run that version.`;
    return { check: 'migrations', state: 'problem', message, figures };
  }
  if (missing.length > 0) {
    const message = `Migrations not yet applied: ${figures.missing}. Back up the database, then start this version or run \`sps migrate\`.`;
    return { check: 'migrations', state: 'warning', message, figures };
  }
  return { check: 'migrations', state: 'ok', message: `All ${applied.length} migrations are applied.`, figures };
}

/** Checks the disk of the embedded database. `folder` is undefined if the database is on a server of its own. */
export async function checkDisk(folder: string | undefined): Promise<Finding> {
  if (folder === undefined) {
    return { check: 'disk', state: 'unknown', message: 'The disk of the database server cannot be checked from here.' };
  }
  const { bavail, blocks, bsize } = await statfs(folder);
  return judgeDisk(bavail * bsize, blocks * bsize);
}

export function judgeDisk(free: number, all: number): Finding {
  const isScarce = free < FREE_WARNING.bytes && free < all * FREE_WARNING.part;
  const state = free < FREE_PROBLEM_BYTES ? 'problem' : isScarce ? 'warning' : 'ok';
  const space = `${(free / GIB).toFixed(1)} of ${(all / GIB).toFixed(1)} GiB are free in the data directory`;
  return {
    check: 'disk',
    state,
    message: state === 'ok' ? `${space}.` : `${space}: free up space before the database stops.`,
    figures: { free_bytes: free, all_bytes: all },
  };
}
