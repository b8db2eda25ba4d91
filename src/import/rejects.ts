// FILE.rejects.ndjson: what was rejected, why, and from which line. It covers the last run only, and does not exist if
// nothing was rejected. Rejects of an earlier run may have been corrected since, so they are set aside, and removed
// only if this run rejects all of them again.
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { FieldError } from '../errors.ts';
import { OperatorError } from '../operator-error.ts';
import type { Entry } from './entry.ts';

/** Only the owner may read the file, because it holds whole records. */
const MODE = 0o600;

export interface Reject {
  line: number;
  reason: string;
  /** The record as it was read, so that it can be corrected and imported again; `text` if it could not be read. */
  record?: unknown;
  text?: string;
}

export function toReason(errors: readonly FieldError[]): string {
  return errors
    .map(({ source, message }) => (source === 'non_field_errors' ? message : `${source}: ${message}`))
    .join(' ');
}

function isReject(value: unknown): value is Reject {
  const { line, reason, record, text } = (value ?? {}) as Partial<Reject>;
  const hasOrigin = record !== undefined || typeof text === 'string';
  return typeof reason === 'string' && typeof line === 'number' && hasOrigin;
}

/**
 * Returns the entry of a line. If the line is a reject, whatever its file is called, the entry is the corrected record
 * inside.
 */
export function unwrapReject(line: number, value: unknown): Entry {
  if (!isReject(value)) return { line, value };
  const { record, text = '' } = value;
  if (record !== undefined) return { line, value: record };
  return { line, fault: 'This reject has no record; correct it in the file it came from.', text };
}

/** Leaves out a record nested too deeply for JSON.stringify: the line number says where to find it. */
function toLine({ record, ...reject }: Reject): string {
  try {
    return `${JSON.stringify({ ...reject, record })}\n`;
  } catch {
    return `${JSON.stringify({ text: '', ...reject })}\n`;
  }
}

export interface RejectsFile {
  path: string;
  /** Sets aside the rejects of an earlier run. */
  setAside: () => Promise<void>;
  write: (rejects: readonly Reject[]) => Promise<void>;
  /**
   * At the end: removes the rejects just set aside if this run's begin with them. Returns the other files still set
   * aside.
   */
  cleanUpEarlier: () => Promise<string[]>;
  close: () => Promise<void>;
}

/** Refuses to overwrite what somebody else has put there meanwhile: a file that they could read, or a link. */
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
  let last: string | undefined;
  const unwritable = (error: unknown) =>
    Promise.reject(new OperatorError(`Cannot write ${path}: ${(error as Error).message}.`));

  /** Returns the files set aside, by their numbers, which may have gaps. */
  async function listAside(): Promise<Map<number, string>> {
    const beginning = `${basename(file)}.rejects.`;
    const names = (await readdir(dirname(file))).filter((name) => name.startsWith(beginning));
    const numbers = names.flatMap((name) => /^(\d{1,9})\.ndjson$/.exec(name.slice(beginning.length))?.[1] ?? []);
    const sorted = numbers.map(Number).sort((a, b) => a - b);
    return new Map(sorted.map((number) => [number, `${file}.rejects.${number}.ndjson`]));
  }

  return {
    path,
    setAside: async () => {
      if (!(await find(path))) return;
      const number = Math.max(0, ...(await listAside().catch(unwritable)).keys()) + 1;
      last = `${file}.rejects.${number}.ndjson`;
      await rename(path, last).catch(unwritable);
    },
    write: async (rejects) => {
      if (rejects.length === 0) return;
      handle ??= await openFile(path).catch(unwritable);
      await handle.appendFile(rejects.map(toLine).join('')).catch(unwritable);
    },
    cleanUpEarlier: async () => {
      // A file that cannot be compared or removed stays. A process that may not list the folder has set nothing aside
      // in it.
      if (last && (await beginsWith(path, last).catch(() => false))) await rm(last).catch(() => undefined);
      return [...(await listAside().catch(() => new Map<number, string>())).values()];
    },
    close: async () => {
      await handle?.close().catch(unwritable);
    },
  };
}
