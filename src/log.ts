// The log: JSON lines on standard error (standard output has the ready line), made readable on a terminal.
import pino, { type Logger } from 'pino';

const STDERR = 2;

export async function createLog(level: string): Promise<Logger> {
  const base = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!process.stderr.isTTY) return pino(base, pino.destination({ dest: STDERR, sync: false }));
  // Not among the dependencies of a released installation.
  const pretty = await import('pino-pretty').catch(() => undefined);
  if (!pretty) return pino(base, pino.destination(STDERR));
  return pino(base, pretty.PinoPretty({ destination: STDERR, sync: true, ignore: 'pid,hostname', singleLine: true }));
}
