// The database: the one of DATABASE_URL, else an embedded PostgreSQL in the data directory.
import type { Config } from '../config.ts';
import { type Database, type EmbeddedOptions, openEmbeddedDatabase } from './embedded/embedded.ts';

/** Throws an EmbeddedDatabaseError, whose message is for the operator. */
export async function openDatabase(
  config: Pick<Config, 'DATABASE_URL' | 'SPS_DATA_DIR'>,
  options: Omit<EmbeddedOptions, 'dataDir'>,
): Promise<Database> {
  if (config.DATABASE_URL) return { connectionString: config.DATABASE_URL, close: async () => undefined };
  return openEmbeddedDatabase({ ...options, dataDir: config.SPS_DATA_DIR });
}
