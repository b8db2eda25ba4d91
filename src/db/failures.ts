// Which failures of the database are passing: the client may try again, and nothing is wrong with the request.

const PASSING_STATES = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '53300', // too_many_connections
  '57014', // query_canceled: a statement time-out
  '55P03', // lock_not_available: a lock time-out
  '25P03', // idle_in_transaction_session_timeout
  '40001', // serialization_failure, after the last attempt
  '40P01', // deadlock_detected, after the last attempt
]);
const PASSING_SYSTEM_ERRORS = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);
const DRIVER_WORDS =
  /connection terminated|timeout exceeded when trying to connect|connection ended|not queryable|connection error/i;

/** Whether the database was away, overloaded or cut the statement short. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return DRIVER_WORDS.test(error.message);
  return (
    PASSING_STATES.has(code) ||
    PASSING_SYSTEM_ERRORS.has(code) ||
    code.startsWith('08') ||
    DRIVER_WORDS.test(error.message)
  );
}
