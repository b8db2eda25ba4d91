// FILE.rejects.ndjson: what was not taken, why, and from which line. Of the last run only; no file if nothing was rejected. Those of an
// earlier run may have been mended since: they are put aside, and removed only where this run has them all again.
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
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
  const { line, reason, record, text } = (value ?? {}) as Partial<Reject>;
  const hasOrigin = record !== undefined || typeof text === 'string';
  return typeof reason === 'string' && typeof line === 'number' && hasOrigin;
}

/** What a line of a file is: of a reject that was mended, whatever its file is called, the record is taken out. */
export function unwrapReject(line: number, value: unknown): Entry {
  if (!isReject(value)) return { line, value };
  const { record, text = '' } = value;
  if (record !== undefined) return { line, value: record };
  return { line, fault: 'A reject without a record, which is to be mended where it came from.', text };
}

/** Without the record if it is nested more deeply than JSON.stringify can go: its line says where it is. */
function toLine({ record, ...reject }: Reject): string {
  try {
    return `${JSON.stringify({ ...reject, record })}\n`;
  } catch {
    return `${JSON.stringify({ text: '', ...reject })}\n`;
  }
}

export interface RejectsFile {
  path: string;
  /** Puts those of an earlier run aside. */
  putAside: () => Promise<void>;
  write: (rejects: readonly Reject[]) => Promise<void>;
  /** At the end: removes those of the last run if they are the first of these, and says which others stand aside. */
  settleEarlier: () => Promise<string[]>;
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
  let last: string | undefined;
  const unwritable = (error: unknown) =>
    Promise.reject(new OperatorError(`Cannot write ${path}: ${(error as Error).message}.`));

  /** By their numbers, which may have gaps. */
  async function listAside(): Promise<Map<number, string>> {
    const beginning = `${basename(file)}.rejects.`;
    const names = (await readdir(dirname(file))).filter((name) => name.startsWith(beginning));
    const numbers = names.flatMap((name) => /^(\d{1,9})\.ndjson$/.exec(name.slice(beginning.length))?.[1] ?? []);
    const sorted = numbers.map(Number).sort((a, b) => a - b);
    return new Map(sorted.map((number) => [number, `${file}.rejects.${number}.ndjson`]));
  }

  return {
    path,
    putAside: async () => {
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
    settleEarlier: async () => {
      // What cannot be compared or removed stands aside, and who may not list the folder has put nothing there.
      if (last && (await beginsWith(path, last).catch(() => false))) await rm(last).catch(() => undefined);
      return [...(await listAside().catch(() => new Map<number, string>())).values()];
    },
    close: async () => {
      await handle?.close().catch(unwritable);
    },
  };
}
