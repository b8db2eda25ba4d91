// Why the embedded PostgreSQL cannot be used. The message is one sentence for the operator and says what to do.

export class EmbeddedDatabaseError extends Error {
  override name = 'EmbeddedDatabaseError';
}

/** The first reason that a program of PostgreSQL printed, without its time and process; what it told clients is none. */
export function firstComplaint(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const reasons = lines.filter((line) => /(FATAL|PANIC|error):/.test(line) && !line.includes('the database system is'));
  const line = reasons[0] ?? lines.at(-1) ?? 'it printed nothing';
  return line.replace(/^.*?(FATAL|PANIC|error):\s*/, '').trim();
}
