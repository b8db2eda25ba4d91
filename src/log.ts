// The log: JSON lines on standard error (standard output has the ready line), made readable on a terminal. No line
// holds a secret by itself; secrets that slip in with an error's text are redacted here, as a second line of defence.
import pino, { type DestinationStream, type Logger } from 'pino';
import { isDatabaseAway } from './db/failures.ts';
import { writeInBlocks } from './log-blocks.ts';

const STDERR = 2;

/** Keys, webhook secrets, Authorization headers, passwords in addresses. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/((?:public|secret)_live_[0-9A-Za-z]{8})\.[0-9A-Za-z]{32}/g, '$1.…'],
  [/whsec_[0-9A-Za-z+/]{16,}=*/g, 'whsec_…'],
  [/("authorization(?:_value)?":")(?:[^"\\]|\\.)+/gi, '$1…'],
  [/\b((?:Bearer|Basic|Api-Key) +)[\w.~+/-]{8,}=*/gi, '$1…'],
  [/(:\/\/[^\s:/@"]+:)[^\s/@"]+@/g, '$1…@'],
];

/**
 * Matches a part of each kind of secret. Nearly all lines contain none, so they are scanned once instead of five times.
 */
const SUSPICIOUS = /_live_|whsec_|authorization|bearer|basic|api-key|:\/\//i;

/** Returns a line of the log with its secrets redacted. */
function redactSecrets(line: string): string {
  if (!SUSPICIOUS.test(line)) return line;
  return SECRETS.reduce((text, [pattern, instead]) => text.replace(pattern, instead), line);
}

/** Like pino.stdTimeFunctions.isoTime, but formats what the lines of a second have in common only once. */
function createTimestamp(): () => string {
  let second = Number.NaN;
  let begin = '';
  return () => {
    const now = Date.now();
    const milliseconds = now % 1000;
    if (now - milliseconds !== second) {
      second = now - milliseconds;
      begin = `,"time":"${new Date(second).toISOString().slice(0, -'000Z'.length)}`;
    }
    return `${begin}${String(milliseconds).padStart(3, '0')}Z"`;
  };
}

/**
 * Describes an error for the log. PostgreSQL's errors quote rows and keys, so only the fault of the statement is kept.
 * The pool's errors carry the whole client, which is dropped. While the database is away, everything fails alike, and
 * the stack, which shows where in the driver that was noticed, says nothing.
 */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const {
    aggregateErrors: _all,
    detail: _detail,
    where: _where,
    internalQuery: _query,
    client: _client,
    stack,
    ...rest
  } = pino.stdSerializers.err(error);
  return {
    ...rest,
    ...(!isDatabaseAway(error) && { stack }),
    ...(error instanceof AggregateError && { aggregateErrors: error.errors.map(describeError) }),
  };
}

function logTo(level: string, stream: DestinationStream): Logger {
  const hooks = { streamWrite: redactSecrets };
  return pino({ level, base: null, timestamp: createTimestamp(), serializers: { err: describeError }, hooks }, stream);
}

/** Creates a log of lines of this level and above, written to the stream or to standard error. */
export async function createLog(level: string, stream?: DestinationStream): Promise<Logger> {
  if (stream) return logTo(level, stream);
  if (!process.stderr.isTTY) {
    const onLost = (lines: number) => log.warn({ lines }, 'log lines were lost: standard error did not take them');
    const log = logTo(level, writeInBlocks(STDERR, { onLost }));
    return log;
  }
  // Not among the dependencies of a released installation.
  const pretty = await import('pino-pretty').catch(() => undefined);
  if (!pretty) return logTo(level, pino.destination(STDERR));
  return logTo(level, pretty.PinoPretty({ destination: STDERR, sync: true, ignore: 'pid,hostname', singleLine: true }));
}

/**
 * Logs warnings of Node.js and of packages, such as the one about an `sslmode`, as lines of the log instead of text
 * between them.
 */
export function logWarnings(log: Promise<Logger>): void {
  process.removeAllListeners('warning');
  // Includes warnings given before there is a log.
  process.on('warning', async (err) => (await log).warn({ err }, 'Node.js warning'));
}
