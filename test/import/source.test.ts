// The file that an import reads: its format, and a pipe whose writer may come later, or never.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSource } from '../../src/import/source.ts';

const FORM = { toValue: (cells: unknown) => cells, columnOf: (name: string) => name };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sps-source-'));
});
afterAll(() => rm(folder, { recursive: true }));

function makePipe(name: string): string {
  const pipe = join(folder, name);
  execFileSync('mkfifo', [pipe]);
  return pipe;
}

async function entriesOf({ entries }: Awaited<ReturnType<typeof openSource>>) {
  const all = [];
  for await (const group of entries) all.push(...group);
  return all;
}

test.each([
  ['lines.ndjson', '{"a":"1"}\n', { line: 1, value: { a: '1' } }],
  ['lines.jsonl', '{"a":"1"}\n', { line: 1, value: { a: '1' } }],
  ['LINES.NDJSON', '{"a":"1"}\n', { line: 1, value: { a: '1' } }],
  ['cells.csv', 'a\n1\n', { line: 2, value: { a: '1' } }],
  ['CELLS.CSV', 'a\n1\n', { line: 2, value: { a: '1' } }],
])('the extension gives the format, in capitals too: %s', async (name, content, entry) => {
  const file = join(folder, name);
  await writeFile(file, content);
  expect(await entriesOf(await openSource(file, FORM))).toEqual([entry]);
});

test('what cannot be a file of records is refused in words', async () => {
  await mkdir(join(folder, 'folder.ndjson'));
  await writeFile(join(folder, 'plain'), '');
  const refusal = async (name: string) => openSource(join(folder, name), FORM).catch((error: Error) => error.message);
  expect(await refusal('folder.ndjson')).toMatch(/^Cannot read .*folder\.ndjson: it is a directory\.$/);
  expect(await refusal('none.ndjson')).toMatch(/^Cannot read .*none\.ndjson: there is no such file\.$/);
  expect(await refusal('plain/in.ndjson')).toMatch(/^Cannot read .*plain\/in\.ndjson: there is no such file\.$/);
});

test('a pipe is read to its end, even if nobody writes to it at first', async () => {
  const pipe = makePipe('late.ndjson');
  const opened = openSource(pipe, FORM);
  expect(await Promise.race([opened, sleep(100, 'waiting')])).toBe('waiting');
  await writeFile(pipe, '{"a":1}\n{"a":2}');
  expect(await entriesOf(await opened)).toEqual([
    { line: 1, value: { a: 1 } },
    { line: 2, value: { a: 2 } },
  ]);
});

test('a pipe that nobody writes to is abandoned on request', async () => {
  const abort = new AbortController();
  const opened = openSource(makePipe('never.ndjson'), FORM, abort.signal);
  expect(await Promise.race([opened, sleep(100, 'waiting')])).toBe('waiting');
  abort.abort();
  await expect(opened).rejects.toThrow('Interrupted: records written so far are kept');
});
