// FILE.rejects.ndjson: what was not taken, why, and from which line. Of the last run only; no file if nothing was rejected.
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { OperatorError } from '../apps/service.ts';
import type { FieldError } from '../errors.ts';

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
  write: (rejects: readonly Reject[]) => Promise<void>;
  close: () => Promise<void>;
}

export async function openRejects(file: string): Promise<RejectsFile> {
  const path = `${file}.rejects.ndjson`;
  let stream: WriteStream | undefined;
  const unwritable = (error: unknown) =>
    Promise.reject(new OperatorError(`Cannot write ${path}: ${(error as Error).message}.`));

  await rm(path, { force: true }).catch(unwritable);

  async function open(): Promise<WriteStream> {
    const opened = createWriteStream(path);
    await once(opened, 'open').catch(unwritable);
    return opened;
  }

  return {
    path,
    write: async (rejects) => {
      if (rejects.length === 0) return;
      stream ??= await open();
      if (!stream.write(rejects.map(toLine).join(''))) await once(stream, 'drain').catch(unwritable);
    },
    close: async () => {
      if (!stream) return;
      stream.end();
      await once(stream, 'finish').catch(unwritable);
    },
  };
}
