// The database's clock, as this process knows it. Processes on one database share leases, due times and what is old
// enough to be deleted: one that went by a wrong clock would take deliveries from the others, or delete new data.
import { performance } from 'node:perf_hooks';
import { type Kysely, sql } from 'kysely';
import type { Logger } from 'pino';
import type { DB } from './types.ts';

const WARN_ABOVE_MS = 1_000;

export interface DatabaseClock {
  /** Returns the database's time; until that has been read, this process's own. */
  now: () => Date;
  /** Reads the database's clock. To be repeated, as clocks drift and are set. */
  read: () => Promise<void>;
}

export function createDatabaseClock(db: Kysely<DB>): DatabaseClock {
  /** How far the database's clock is ahead of our monotonic one, in milliseconds. */
  let ahead: number | undefined;
  return {
    now: () => new Date((ahead ?? performance.timeOrigin) + performance.now()),
    async read() {
      const before = performance.now();
      const { rows } = await sql<{ clock_ms: number }>`
        select extract(epoch from clock_timestamp())::float8 * 1000 as clock_ms`.execute(db);
      const after = performance.now();
      const { clock_ms } = rows[0] as { clock_ms: number };
      // The clock was read some time in between, so the known offset changes only if it cannot be true.
      const [earliest, latest] = [clock_ms - after, clock_ms - before];
      ahead = Math.min(Math.max(ahead ?? (earliest + latest) / 2, earliest), latest);
    },
  };
}

/** Returns the clock after its first reading, which must succeed. Logs a warning if our own shows another time. */
export async function openClock(db: Kysely<DB>, log: Logger): Promise<DatabaseClock> {
  const clock = createDatabaseClock(db);
  await clock.read();
  const aheadMs = Math.round(clock.now().getTime() - Date.now());
  if (Math.abs(aheadMs) > WARN_ABOVE_MS) {
    log.warn({ database_ahead_ms: aheadMs }, "this machine's clock differs from the database's; using the database's");
  }
  return clock;
}
