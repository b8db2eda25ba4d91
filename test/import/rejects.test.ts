import { existsSync } from 'node:fs';
import { mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRejects, type RejectsFile, unwrapReject } from '../../src/import/rejects.ts';

const REJECT = { line: 1, reason: 'store is missing.', text: '{}' };
const FULL = '/dev/full';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sps-rejects-'));
});

afterAll(() => rm(folder, { recursive: true }));

test('rejects that are written at different times are lines of one file', async () => {
  const rejects = createRejects(join(folder, 'a.ndjson'));
  await rejects.write([REJECT, { ...REJECT, line: 2 }]);
  await rejects.write([]);
  await rejects.write([{ ...REJECT, line: 7 }]);
  await rejects.close();
  const lines = (await readFile(rejects.path, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).line)).toEqual([1, 2, 7]);
  expect((await stat(rejects.path)).mode & 0o777).toBe(0o600);
});

describe('rejects of an earlier run', () => {
  /** Begins a run with these rejects. */
  async function begin(name: string, ...lines: number[]): Promise<RejectsFile> {
    const rejects = createRejects(join(folder, name));
    await rejects.setAside();
    for (const line of lines) await rejects.write([{ ...REJECT, line }]);
    return rejects;
  }
  /** Does a whole run and returns the files in which, as it says, earlier rejects are. */
  async function run(name: string, ...lines: number[]): Promise<string[]> {
    const rejects = await begin(name, ...lines);
    const earlier = await rejects.cleanUpEarlier();
    await rejects.close();
    return earlier.map((path) => basename(path));
  }
  const filesOf = async (name: string) => (await readdir(folder)).filter((one) => one.startsWith(name)).sort();

  test('are removed if this run has them all again, as after a run that was interrupted', async () => {
    expect(await run('same', 1)).toEqual([]);
    expect(await run('same', 1)).toEqual([]);
    expect(await run('same', 1, 5)).toEqual([]);
    expect(await filesOf('same')).toEqual(['same.rejects.ndjson']);
  });

  test('are kept if they differ, as they may have been corrected', async () => {
    await run('corrected', 1, 5);
    const corrected = '{"line":1,"record":{}}\n';
    const path = join(folder, 'corrected.rejects.ndjson');
    await writeFile(path, corrected);
    expect(await run('corrected')).toEqual(['corrected.rejects.1.ndjson']);
    await run('corrected', 5);
    expect(await run('corrected', 6, 7)).toEqual(['corrected.rejects.1.ndjson', 'corrected.rejects.2.ndjson']);
    expect(await filesOf('corrected')).toEqual(
      ['1.ndjson', '2.ndjson', 'ndjson'].map((end) => `corrected.rejects.${end}`),
    );
    expect(await readFile(join(folder, 'corrected.rejects.1.ndjson'), 'utf8')).toBe(corrected);
  });

  test('are named in the order in which they were set aside, of which some may be gone', async () => {
    for (let i = 1; i <= 11; i++) {
      await run('many', 1);
      await writeFile(join(folder, 'many.rejects.ndjson'), `corrected ${i}`);
    }
    await rm(join(folder, 'many.rejects.1.ndjson'));
    expect(await run('many')).toEqual(
      [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((number) => `many.rejects.${number}.ndjson`),
    );
  });

  test('are named even if the run that set them aside was interrupted', async () => {
    await run('cut', 1, 5);
    await writeFile(join(folder, 'cut.rejects.ndjson'), 'corrected');
    await (await begin('cut', 1)).close();
    expect(await run('cut', 1, 5)).toEqual(['cut.rejects.1.ndjson']);
    await rm(join(folder, 'cut.rejects.1.ndjson'));
    expect(await run('cut', 1, 5)).toEqual([]);
  });

  test('that fill more than one read are compared to their end', async () => {
    const long = Array.from({ length: 3_000 }, (_, index) => index);
    await run('long', ...long);
    expect((await stat(join(folder, 'long.rejects.ndjson'))).size).toBeGreaterThan(2 * 65_536);
    expect(await run('long', ...long.with(-1, 0))).toEqual(['long.rejects.1.ndjson']);
  });
});

test.each([
  { record: {}, reason: 'is missing' },
  { record: {}, line: 1 },
  { record: {}, reason: 'is missing', line: '1' },
  { record: {}, reason: 5, line: 1 },
  { reason: 'is missing', line: 1 },
  { reason: 'is missing', line: 1, text: 5 },
])('a value that lacks a part of a reject is a record: %j', (value) => {
  expect(unwrapReject(3, value)).toEqual({ line: 3, value });
});

test('a folder that does not exist is reported', async () => {
  const gone = createRejects(join(folder, 'gone', 'b.ndjson'));
  await expect(gone.write([REJECT])).rejects.toThrow(/^Cannot write .*b\.ndjson\.rejects\.ndjson: ENOENT/);
  await gone.close();
});

test('a file that somebody else has put in its place is not written to', async () => {
  const swapped = createRejects(join(folder, 'd.ndjson'));
  const elsewhere = join(folder, 'elsewhere');
  await writeFile(elsewhere, 'kept');
  await swapped.setAside();
  await symlink(elsewhere, swapped.path);
  await expect(swapped.write([REJECT])).rejects.toThrow('EEXIST');
  expect(await readFile(elsewhere, 'utf8')).toBe('kept');
});

test.skipIf(!existsSync(FULL))('a full disk is reported every time, and the file can be closed', async () => {
  const full = createRejects(join(folder, 'c.ndjson'), () => open(FULL, 'w'));
  await expect(full.write([REJECT])).rejects.toThrow(/^Cannot write .*c\.ndjson\.rejects\.ndjson: ENOSPC/);
  await expect(full.write([REJECT])).rejects.toThrow('ENOSPC');
  await full.close();
});
