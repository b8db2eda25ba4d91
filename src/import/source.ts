// The file that an import reads: its entries as they arrive, whatever its format.
import { once } from 'node:events';
import { constants, createReadStream, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { extname } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { OperatorError } from '../operator-error.ts';
import { type CsvForm, readCsv } from './csv.ts';
import type { Entry } from './entry.ts';
import { readLines } from './lines.ts';
import { readNdjson } from './ndjson.ts';

const CHUNK_BYTES = 256 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** Explains to the operator why a file cannot be read. */
export function unreadable(file: string, error: unknown): OperatorError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new OperatorError(`Cannot read ${file}: ${REASONS[code] ?? message}.`);
}

export function interrupted(): OperatorError {
  return new OperatorError('Interrupted: records written so far are kept; run the same import again to finish it.');
}

type ByteStream = Readable & { bytesRead: number };

/**
 * A pipe is read on the event loop, which waits for a writer and its data: a thread blocked on that could not be
 * stopped, and would keep the process from ending.
 */
async function openStream(file: string, isPipe: boolean): Promise<ByteStream> {
  if (!isPipe) return createReadStream(file, { highWaterMark: CHUNK_BYTES });
  return new Socket({ fd: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
}

export interface Source {
  entries: AsyncIterable<Entry[]>;
  sizeBytes: number;
  /** Bytes read so far. */
  bytesRead: () => number;
  close: () => void;
}

/**
 * Opens a file as NDJSON or CSV, by its extension; `form` says how a CSV is read. Nothing more is read once `signal` is
 * aborted.
 */
export async function openSource(file: string, form: CsvForm, signal?: AbortSignal): Promise<Source> {
  const ending = extname(file).toLowerCase();
  if (!['.ndjson', '.jsonl', '.csv'].includes(ending)) {
    throw new OperatorError(
      `Cannot tell the format of ${file}: its name must end in .ndjson, .jsonl or .csv. To read another program's output, use a named pipe (mkfifo) or a link to /dev/stdin with such a name.`,
    );
  }
  const fail = (error: unknown) => Promise.reject(signal?.aborted ? interrupted() : unreadable(file, error));
  const stats = await stat(file).catch(fail);
  const stream = await openStream(file, stats.isFIFO()).catch(fail);
  // Errors reach the reader of the stream, but there may be none at the moment.
  stream.on('error', () => undefined);
  if (signal) addAbortSignal(signal, stream);
  await once(stream, 'readable').catch(fail);
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      yield* stream;
    } catch (error) {
      await fail(error);
    }
    // A pipe has size 0.
    if (stream.bytesRead < stats.size) throw new OperatorError(`${file} was truncated while it was being read.`);
  }
  const lines = readLines(chunks());
  return {
    entries: ending === '.csv' ? readCsv(lines, form) : readNdjson(lines),
    sizeBytes: stats.size,
    bytesRead: () => stream.bytesRead,
    close: () => stream.destroy(),
  };
}
