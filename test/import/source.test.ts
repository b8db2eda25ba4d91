// An import that reads from a pipe: the writer may come later, or never.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
