// Describes the failure of a command to its operator: in one sentence, or by the stack if the fault is ours.
import { ConfigError } from './config.ts';
import { EmbeddedDatabaseError } from './db/embedded/problem.ts';
import { isConflict, isDatabaseAway, isRefusal, isTimeout } from './db/failures.ts';
import { MigrationError } from './db/migration-refusals.ts';
import { OperatorError } from './operator-error.ts';

const FOR_OPERATORS = [OperatorError, ConfigError, EmbeddedDatabaseError, MigrationError];

/** Refusals of a connection: wrong password, role or database. */
const REFUSED_STATES = /^(28|3D000$)/;

/** No space, no memory, no more connections; or the server is a replica. */
const UNABLE_STATES = /^(53|25006$)/;

const INSUFFICIENT_PRIVILEGE = '42501';

interface SystemError {
  code?: string;
  address?: string;
  port?: number;
  path?: string;
}

/** Returns a sentence for what operators can fix, and the stack of anything else. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (FOR_OPERATORS.some((kind) => error instanceof kind)) return error.message;
  const { code = '', address, port, path } = error as SystemError;
  if (isTimeout(error) || isConflict(error)) return `The database is busy (${error.message}): try again later.`;
  if (UNABLE_STATES.test(code)) return `The database cannot do this now: ${error.message}.`;
  if (REFUSED_STATES.test(code) || isRefusal(error)) return `The database refuses the connection: ${error.message}.`;
  if (path) return `Cannot use ${path} (${code}).`;
  if (isDatabaseAway(error)) {
    // A Unix socket has no port.
    const where = address ? ` at ${[address, port].filter(Boolean).join(':')}` : '';
    const reason = address ? code : error.message || code;
    return `The database${where} does not answer (${reason}): is DATABASE_URL right, and is it running?`;
  }
  if (code === INSUFFICIENT_PRIVILEGE) {
    return `The database does not allow this (${error.message}): is the role of DATABASE_URL the owner of the database?`;
  }
  return error.stack ?? error.message;
}
