import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRejects } from '../../src/import/rejects.ts';

const REJECT = { line: 1, reason: 'store is missing.', text: '{}' };
const FULL = '/dev/full';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sps-rejects-'));
});

afterAll(() => rm(folder, { recursive: true }));

test('what is written at several times stands line by line', async () => {
  const rejects = createRejects(join(folder, 'a.ndjson'));
  await rejects.write([REJECT, { ...REJECT, line: 2 }]);
  await rejects.write([]);
  await rejects.write([{ ...REJECT, line: 7 }]);
  await rejects.close();
  const lines = (await readFile(rejects.path, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).line)).toEqual([1, 2, 7]);
  expect((await stat(rejects.path)).mode & 0o777).toBe(0o600);
});

test('a folder that is not there is told', async () => {
  const gone = createRejects(join(folder, 'gone', 'b.ndjson'));
  await expect(gone.write([REJECT])).rejects.toThrow(/^Cannot write .*b\.ndjson\.rejects\.ndjson: ENOENT/);
  await gone.close();
});

test('what somebody else has put in its place is not written to', async () => {
  const swapped = createRejects(join(folder, 'd.ndjson'));
  const elsewhere = join(folder, 'elsewhere');
  await writeFile(elsewhere, 'kept');
  await swapped.clear();
  await symlink(elsewhere, swapped.path);
  await expect(swapped.write([REJECT])).rejects.toThrow('EEXIST');
  expect(await readFile(elsewhere, 'utf8')).toBe('kept');
});

test.skipIf(!existsSync(FULL))('a disk that is full is told, every time, and the file can be closed', async () => {
  const full = createRejects(join(folder, 'c.ndjson'), () => open(FULL, 'w'));
  await expect(full.write([REJECT])).rejects.toThrow(/^Cannot write .*c\.ndjson\.rejects\.ndjson: ENOSPC/);
  await expect(full.write([REJECT])).rejects.toThrow('ENOSPC');
  await full.close();
});
