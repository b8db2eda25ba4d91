// A file named by an operator is read whole and unchanged, or not at all.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readText } from '../../src/cli/read-text.ts';

let file: string;
beforeAll(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'sps-read-text-')), 'file');
});
afterAll(() => rm(join(file, '..'), { recursive: true }));

test('text in UTF-8 loses only its byte order mark', async () => {
  await writeFile(file, '\uFEFFclé\r\n');
  expect(await readText(file)).toBe('clé\r\n');
});

test('a file that is not UTF-8 is refused, not read with replacement characters', async () => {
  await writeFile(file, Buffer.from('clé', 'latin1'));
  await expect(readText(file)).rejects.toThrow(`Cannot read ${file}: it is not UTF-8 text.`);
});
