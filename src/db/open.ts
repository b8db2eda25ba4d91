// The database: the one of DATABASE_URL, else a private PostgreSQL in the data directory.
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type Database, openEmbeddedDatabase } from './embedded/embedded.ts';
import type { Role } from './embedded/lease.ts';

/** Throws an EmbeddedDatabaseError, whose message is for the operator. */
export async function openDatabase(
  config: Pick<Config, 'DATABASE_URL' | 'SPS_DATA_DIR'>,
  { log, role }: { log: Logger; role: Role },
): Promise<Database> {
  if (config.DATABASE_URL) return { connectionString: config.DATABASE_URL, close: async () => undefined };
  return openEmbeddedDatabase({ dataDir: config.SPS_DATA_DIR, role, log });
}
