// FILE.rejects.ndjson: what was not taken, why, and from which line. Of the last run only; no file if nothing was rejected.
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { FieldError } from '../errors.ts';
import { OperatorError } from '../operator-error.ts';

const ENDING = '.rejects.ndjson';
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

/** What makes records of the lines of a file: of rejects that were mended it takes the record out. */
export function recordReader(file: string): (value: unknown) => unknown {
  if (!file.endsWith(ENDING)) return (value) => value;
  return (value) => (value as Partial<Reject> | null)?.record ?? value;
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
  /** Removes those of an earlier run. */
  clear: () => Promise<void>;
  write: (rejects: readonly Reject[]) => Promise<void>;
  close: () => Promise<void>;
}

/** Not over what somebody else has put there meanwhile: a file that they could read, or a link. */
const openNew = (path: string): Promise<FileHandle> => open(path, 'wx', MODE);

export function createRejects(file: string, openFile = openNew): RejectsFile {
  const path = `${file}${ENDING}`;
  let handle: FileHandle | undefined;
  const unwritable = (error: unknown) =>
    Promise.reject(new OperatorError(`Cannot write ${path}: ${(error as Error).message}.`));

  return {
    path,
    clear: () => rm(path, { force: true }).catch(unwritable),
    write: async (rejects) => {
      if (rejects.length === 0) return;
      handle ??= await openFile(path).catch(unwritable);
      await handle.appendFile(rejects.map(toLine).join('')).catch(unwritable);
    },
    close: async () => {
      await handle?.close().catch(unwritable);
    },
  };
}
