// The list of a backup's files. It is written last; with it, a copy that was cut short in transit is detected.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { EmbeddedDatabaseError } from './problem.ts';

const NAME = 'files.json';

export async function writeFileList(backup: string): Promise<void> {
  const bytes: Record<string, number> = {};
  for (const entry of await readdir(backup, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) bytes[relative(backup, path)] = (await stat(path)).size;
  }
  await writeFile(join(backup, NAME), JSON.stringify(bytes, undefined, 1), { mode: 0o600, flush: true });
}

async function readFileList(backup: string): Promise<Record<string, number>> {
  try {
    return JSON.parse(await readFile(join(backup, NAME), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
    throw new EmbeddedDatabaseError(
      `${backup} is not a complete backup made by \`sps backup\`: its ${NAME} is missing or damaged.`,
    );
  }
}

/** Throws if a file is missing or has another size. Added files are ignored: a desktop leaves files of its own. */
export async function refuseIncomplete(backup: string): Promise<void> {
  for (const [name, bytes] of Object.entries(await readFileList(backup))) {
    const found = await stat(join(backup, name)).catch(() => undefined);
    if (found?.size === bytes) continue;
    throw new EmbeddedDatabaseError(
      `${backup} is not a complete backup (${name} is missing or has the wrong size): copy it again.`,
    );
  }
}
