// A pool of a single connection, so that its next user gets the same one.
import type { Kysely } from 'kysely';
import { createDb } from '../../src/db/client.ts';
import type { DB } from '../../src/db/types.ts';

export function connectTo(connectionString: string, statementTimeoutMs = 5_000): Kysely<DB> {
  return createDb({ connectionString, max: 1, statementTimeoutMs, applicationName: 'sps-test' }, () => {});
}
