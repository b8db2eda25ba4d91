// What the image adds to its base: the packages of a production install, the built program, the migrations.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAX_BYTES = 90e6;
const BLOCK_BYTES = 4096;

interface LockedPackage {
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

/** Returns the size on disk, without nested node_modules: their packages have entries of their own in the lock file. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(join(ROOT, folder), { withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? 0 : sizeOf(path);
    const { size } = await stat(join(ROOT, path));
    return Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Lists what `npm ci --omit=dev --omit=optional` installs. */
async function listProductionPackages(): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages as Record<string, LockedPackage>);
  return packages
    .filter(([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional)
    .map(([path]) => path);
}

test('the image adds at most 90 MB to its base', async () => {
  const folders = [...(await listProductionPackages()), 'dist', 'migrations'];
  expect(folders).toContain('node_modules/fastify');
  const sizes = await Promise.all(folders.map(sizeOf));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(20e6);
  expect(total).toBeLessThanOrEqual(MAX_BYTES);
});
