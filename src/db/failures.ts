// Classifies failures of the database. Most are transient: the client may retry, and nothing is wrong with the request.
import pg from 'pg';

const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const UNIQUE_VIOLATION = '23505';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const READ_ONLY = '25006';
const DISK_FULL = '53100';
const TOO_MANY_CONNECTIONS = '53300';
/** A statement that this connection prepared is not in the session, or one that it did not prepare is. */
const OTHER_SESSION: readonly unknown[] = ['26000', '42P05'];
const CONFLICTS: readonly unknown[] = [SERIALIZATION_FAILURE, DEADLOCK_DETECTED];

/** Connection exceptions, insufficient resources, operator intervention. */
const AWAY_CLASSES = /^(08|53|57)/;
const AWAY_STATES = new Set([
  READ_ONLY, // The primary has become a replica, or the database was made read-only.
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
]);
/** Every failure to connect is transient, even a Unix socket that does not exist. */
const CONNECTING = new Set(['connect', 'getaddrinfo']);
/** Codes of broken connections, and of several addresses that all failed to connect, which name no system call. */
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
const DRIVER_MESSAGES =
  /connection terminated|timeout expired|timeout exceeded when trying to connect|connection ended|not queryable|connection error/i;

/**
 * Errors of failed connects, which are transient whatever they say: a rejected password or an unknown certificate is
 * not the request's fault either.
 */
const failuresToConnect = new WeakSet<object>();

/** Rethrows the error with which connecting failed, and remembers that the database counts as away. */
export function rethrowConnectFailure(error: unknown): never {
  if (error instanceof Error) failuresToConnect.add(error);
  throw error;
}

/** What was read changed before it was locked. The transaction must be retried, as after a serialization failure. */
export class StaleReadError extends Error {
  readonly code = SERIALIZATION_FAILURE;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as { code?: unknown }).code : undefined;
}

/** Whether the wait for a lock took too long. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/** Whether another transaction wrote the same key first. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/** Whether a statement tried to write to a read-only database. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === READ_ONLY;
}

/** Whether the server's disk is full. */
export function isDiskFull(error: unknown): boolean {
  return codeOf(error) === DISK_FULL;
}

/** Whether the connection no longer leads to its own session: a pooler has begun to share sessions. */
export function isOtherSession(error: unknown): boolean {
  return OTHER_SESSION.includes(codeOf(error));
}

/** Whether a connection was refused because all of the server's connections are in use. */
export function isOutOfConnections(error: unknown): boolean {
  return codeOf(error) === TOO_MANY_CONNECTIONS;
}

/** Whether the server itself refused a connection: it is running, and says why. */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && failuresToConnect.has(error);
}

/** Whether a statement took too long or waited too long for a lock. */
export function isTimeout(error: unknown): boolean {
  return isLockTimeout(error) || codeOf(error) === QUERY_CANCELED;
}

/** Whether another transaction was in the way, so that a retry may succeed. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(codeOf(error));
}

/** Whether the database was away, overloaded or read-only, or cut the statement short: nothing would succeed now. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (failuresToConnect.has(error) || isOtherSession(error)) return true;
  const { code, syscall = '' } = error as { code?: unknown; syscall?: string };
  // Steps that failed together. The AggregateError of Node.js, for several addresses, has the code of the first.
  if (error instanceof AggregateError && code === undefined)
    return error.errors.length > 0 && error.errors.every(isDatabaseAway);
  if (typeof code !== 'string') return DRIVER_MESSAGES.test(error.message);
  return (
    AWAY_CLASSES.test(code) ||
    AWAY_STATES.has(code) ||
    CONNECTING.has(syscall) ||
    AWAY_SYSTEM_ERRORS.has(code) ||
    DRIVER_MESSAGES.test(error.message)
  );
}

/** Whether the database was away, or other transactions were still in the way at the last attempt. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return isDatabaseAway(error) || isLockTimeout(error) || isConflict(error);
}
