// Makes the names in a folder durable, once the files themselves are on disk.
import { open } from 'node:fs/promises';

/** Errors of file systems that cannot do this; PostgreSQL ignores them, too. */
const UNABLE: readonly unknown[] = ['EINVAL', 'EBADF'];

export async function syncFolder(path: string): Promise<void> {
  // Windows does not open folders.
  if (process.platform === 'win32') return;
  const folder = await open(path);
  try {
    await folder.sync();
  } catch (error) {
    if (!UNABLE.includes((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    await folder.close();
  }
}
