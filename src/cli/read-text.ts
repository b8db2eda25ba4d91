// Reads a small file that an operator named.
import { readFile } from 'node:fs/promises';
import { unreadable } from '../import/source.ts';
import { OperatorError } from '../operator-error.ts';

/** Returns its text, which must be UTF-8. */
export async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => Promise.reject(unreadable(file, error)));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new OperatorError(`Cannot read ${file}: it is not UTF-8 text.`);
  }
}
