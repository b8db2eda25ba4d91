// FILE.rejects.ndjson: what was not taken, why, and from which line. Of the last run only; no file if nothing was rejected. Those of an
// earlier run may have been mended since: they are put aside, and removed only where this run has them all again.
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import type { FieldError } from '../errors.ts';
import { OperatorError } from '../operator-error.ts';
import type { Entry } from './entry.ts';

/** The mode of the file, which holds whole records: its owner alone reads it. */
const MODE = 0o600;

export interface Reject {
  line: number;
  reason: string;
  /** As it was read, so that it can be mended and imported again; `text` if it was no record. */
  record?: unknown;
  text?: string;
}

export function toReason(errors: readonly FieldError[]): string {
  return errors
    .map(({ source, message }) => (source === 'non_field_errors' ? message : `${source}: ${message}`))
    .join(' ');
}

function isReject(value: unknown): value is Reject {
  const { line, reason } = (value ?? {}) as Partial<Reject>;
  return typeof reason === 'string' && typeof line === 'number';
}

/** What a line of a file is: of a reject that was mended, whatever its file is called, the record is taken out. */
export function toEntry(line: number, value: unknown): Entry {
  if (!isReject(value)) return { line, value };
  const { record, text = '' } = value;
  if (record !== undefined) return { line, value: record };
  return { line, fault: 'A reject without a record, which is to be mended where it came from.', text: String(text) };
}

/** Without the record if it is nested more deeply than JSON.stringify can go: its line says where it is. */
function toLine({ record, ...reject }: Reject): string {
  try {
    return `${JSON.stringify({ ...reject, record })}\n`;
  } catch {
    return `${JSON.stringify(reject)}\n`;
  }
}

export interface RejectsFile {
  path: string;
  /** Puts those of an earlier run aside. */
  begin: () => Promise<void>;
  write: (rejects: readonly Reject[]) => Promise<void>;
  /** At the end: removes those of an earlier run if they are the first of these, else says where they are. */
  compare: () => Promise<string | undefined>;
  close: () => Promise<void>;
}

/** Not over what somebody else has put there meanwhile: a file that they could read, or a link. */
const openNew = (path: string): Promise<FileHandle> => open(path, 'wx', MODE);

const find = (path: string) => lstat(path).catch(() => undefined);

async function beginsWith(path: string, beginning: string): Promise<boolean> {
  const [all, part] = await Promise.all([find(path), find(beginning)]);
  if (!part?.isFile() || part.size > (all?.size ?? 0)) return false;
  if (part.size === 0) return true;
  const whole = await open(path);
  try {
    let at = 0;
    for await (const chunk of createReadStream(beginning) as AsyncIterable<Buffer>) {
      const { buffer } = await whole.read(Buffer.alloc(chunk.length), 0, chunk.length, at);
      if (!buffer.equals(chunk)) return false;
      at += chunk.length;
    }
    return true;
  } finally {
    await whole.close();
  }
}

export function createRejects(file: string, openFile = openNew): RejectsFile {
  const path = `${file}.rejects.ndjson`;
  let handle: FileHandle | undefined;
  let earlier: string | undefined;
  const unwritable = (error: unknown) =>
    Promise.reject(new OperatorError(`Cannot write ${path}: ${(error as Error).message}.`));

  async function putAside(): Promise<void> {
    if (!(await find(path))) return;
    let number = 1;
    while (await find(`${file}.rejects.${number}.ndjson`)) number++;
    earlier = `${file}.rejects.${number}.ndjson`;
    await rename(path, earlier);
  }

  return {
    path,
    begin: () => putAside().catch(unwritable),
    write: async (rejects) => {
      if (rejects.length === 0) return;
      handle ??= await openFile(path).catch(unwritable);
      await handle.appendFile(rejects.map(toLine).join('')).catch(unwritable);
    },
    compare: async () => {
      if (earlier === undefined || !(await beginsWith(path, earlier).catch(() => false))) return earlier;
      await rm(earlier).catch(unwritable);
      return undefined;
    },
    close: async () => {
      await handle?.close().catch(unwritable);
    },
  };
}
