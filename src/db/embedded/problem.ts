// Why the embedded PostgreSQL cannot be used. The message is one sentence for the operator and says what to do.

export class EmbeddedDatabaseError extends Error {
  override name = 'EmbeddedDatabaseError';
}

/** The last line that a program of PostgreSQL printed, without its time, process and severity. */
export function lastComplaint(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const line = lines.findLast((one) => /(FATAL|PANIC|error):/.test(one)) ?? lines.at(-1) ?? 'it printed nothing';
  return line.replace(/^.*?(FATAL|PANIC|error):\s*/, '').trim();
}
