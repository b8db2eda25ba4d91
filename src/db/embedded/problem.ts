// Why the embedded PostgreSQL cannot be used. The message is one sentence for the operator and says what to do.

export class EmbeddedDatabaseError extends Error {
  override name = 'EmbeddedDatabaseError';
}

const NO_SPACE: readonly unknown[] = ['ENOSPC', 'EDQUOT'];
const WRITING: readonly unknown[] = ['write', 'fsync'];

/** Explains a failure to write into a folder, such as that its disk is full. Returns any other error as it is. */
export function explainWriteFailure(error: unknown, folder: string): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (!NO_SPACE.includes(code) && !WRITING.includes(syscall)) return error;
  return new EmbeddedDatabaseError(`Cannot write ${folder}: ${message}. What was written has been removed.`);
}

/** Returns the first reason that a PostgreSQL program printed, without time and process; skips messages to clients. */
export function firstComplaint(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const reasons = lines.filter((line) => /(FATAL|PANIC|error):/.test(line) && !line.includes('the database system is'));
  const line = reasons[0] ?? lines.at(-1) ?? 'it printed nothing';
  return line.replace(/^.*?(FATAL|PANIC|error):\s*/, '').trim();
}
