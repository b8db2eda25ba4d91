// Opens files and folders that belong to the server's user. Root does not trust that user: in place of a file there may
// be a link to one of root's, or a pipe that nobody writes to.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { EmbeddedDatabaseError } from './problem.ts';

/** Opens a file for reading; follows no link and waits for no pipe. Rejects with ENOENT if nothing is there. */
export async function openPlainFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === 'ELOOP' ? notPlainError(path) : error;
    },
  );
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw notPlainError(path);
}

/** Returns the text of such a file. */
export async function readPlainFile(path: string): Promise<string> {
  const file = await openPlainFile(path);
  return file.readFile('utf8').finally(() => file.close());
}

/**
 * Gives `work` a path to the folder that now has this name. The path keeps leading to that folder, whatever takes its
 * name meanwhile. Only Linux has such paths; elsewhere `work` gets the given path.
 */
export async function insideFolder<T>(path: string, work: (path: string) => Promise<T>): Promise<T> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    return await work(process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : path);
  } finally {
    await folder.close();
  }
}

function notPlainError(path: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(`${path} is not a plain file, so PostgreSQL did not create it: remove it.`);
}
