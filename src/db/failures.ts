// What kind a failure of the database is; most are passing: the client may try again, and nothing is wrong with the request.
import pg from 'pg';

const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const UNIQUE_VIOLATION = '23505';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const READ_ONLY = '25006';
const TOO_MANY_CONNECTIONS = '53300';
const CONFLICTS: readonly unknown[] = [SERIALIZATION_FAILURE, DEADLOCK_DETECTED];

/** Connection exceptions, insufficient resources, operator intervention. */
const AWAY_CLASSES = /^(08|53|57)/;
const AWAY_STATES = new Set([
  READ_ONLY, // The primary has become a replica, or the database was made read-only.
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
]);
/** Whatever fails in connecting is passing, also a Unix socket that is not there. */
const CONNECTING = new Set(['connect', 'getaddrinfo']);
/** Of a connection that breaks, and of several attempts to connect together, which name no system call. */
const AWAY_SYSTEM_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
]);
const DRIVER_WORDS =
  /connection terminated|timeout expired|timeout exceeded when trying to connect|connection ended|not queryable|connection error/i;

/** Whatever they say: a refused password or an unknown certificate is no fault of the request either. */
const failuresToConnect = new WeakSet<object>();

/** Throws what a connection could not be made with. The database counts as away. */
export function failConnecting(error: unknown): never {
  if (error instanceof Error) failuresToConnect.add(error);
  throw error;
}

/** What was read changed before it was locked: the transaction has to begin anew, as after a serialization failure. */
export class StaleReadError extends Error {
  readonly code = SERIALIZATION_FAILURE;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as { code?: unknown }).code : undefined;
}

/** Whether a lock was waited for too long. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/** Whether another transaction wrote the same key first. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/** Whether a statement would have written where nothing is written. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === READ_ONLY;
}

/** Whether a connection was refused because others have all that there are. */
export function isOutOfConnections(error: unknown): boolean {
  return codeOf(error) === TOO_MANY_CONNECTIONS;
}

/** Whether the server itself did not let a connection be made: it is there, and says why. */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && failuresToConnect.has(error);
}

/** Whether a statement took too long, be it for a lock. */
export function isTimeout(error: unknown): boolean {
  return isLockTimeout(error) || codeOf(error) === QUERY_CANCELED;
}

/** Whether another transaction was in the way, so that the same one may succeed if it is tried again. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(codeOf(error));
}

/** Whether the database was away, overloaded, not to be written to, or cut the statement short: nothing else succeeds now either. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (failuresToConnect.has(error)) return true;
  const { code, syscall = '' } = error as { code?: unknown; syscall?: string };
  // Of steps that failed alike. Node.js's own, of several addresses, has the code of the first.
  if (error instanceof AggregateError && code === undefined)
    return error.errors.length > 0 && error.errors.every(isDatabaseAway);
  if (typeof code !== 'string') return DRIVER_WORDS.test(error.message);
  return (
    AWAY_CLASSES.test(code) ||
    AWAY_STATES.has(code) ||
    CONNECTING.has(syscall) ||
    AWAY_SYSTEM_ERRORS.has(code) ||
    DRIVER_WORDS.test(error.message)
  );
}

/** Whether the database was away, or other transactions stood in the way of this one to the last. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return isDatabaseAway(error) || isLockTimeout(error) || isConflict(error);
}
