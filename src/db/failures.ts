// Which failures of the database are passing: the client may try again, and nothing is wrong with the request.

const LOCK_NOT_AVAILABLE = '55P03';

/** Connection exceptions, insufficient resources, operator intervention. */
const PASSING_CLASSES = /^(08|53|57)/;
const PASSING_STATES = new Set([
  '25006', // read_only_sql_transaction: the primary has become a replica
  LOCK_NOT_AVAILABLE,
  '25P03', // idle_in_transaction_session_timeout
  '40001', // serialization_failure, after the last attempt
  '40P01', // deadlock_detected, after the last attempt
]);
/** Whatever fails in connecting is passing, also a Unix socket that is not there. */
const CONNECTING = new Set(['connect', 'getaddrinfo']);
/** Of a connection that breaks, and of several attempts to connect together, which name no system call. */
const PASSING_SYSTEM_ERRORS = new Set([
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

/** Whether a lock was waited for too long: of many rows perhaps that of a single one. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
}

/** Whether the database was away, overloaded, not to be written to, or cut the statement short. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall = '' } = error as { code?: unknown; syscall?: string };
  if (typeof code !== 'string') return DRIVER_WORDS.test(error.message);
  return (
    PASSING_CLASSES.test(code) ||
    PASSING_STATES.has(code) ||
    CONNECTING.has(syscall) ||
    PASSING_SYSTEM_ERRORS.has(code) ||
    DRIVER_WORDS.test(error.message)
  );
}
