// Lines that are gathered into blocks: all of them, each in one piece, and none waits long.
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { writeInBlocks } from '../src/log-blocks.ts';

function openLog() {
  const path = join(mkdtempSync(join(tmpdir(), 'sps-log-')), 'log');
  return { log: writeInBlocks(openSync(path, 'w')), read: () => readFileSync(path, 'utf8') };
}

const linesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `{"line":${i},"text":"ä ${'x'.repeat(i % 300)}"}\n`);

test('a process that ends has written every line', () => {
  const { log, read } = openLog();
  const lines = linesOf(2_000);
  for (const line of lines) log.write(line);
  log.flushSync();
  expect(
    read()
      .split(/(?<=\n)/)
      .sort(),
  ).toEqual(lines.sort());
});

test('a single line is written soon, and so are many, in their order', async () => {
  const { log, read } = openLog();
  log.write('one\n');
  await vi.waitFor(() => expect(read()).toBe('one\n'), 2_000);
  const lines = linesOf(500);
  for (const line of lines) log.write(line);
  await vi.waitFor(() => expect(read()).toBe(`one\n${lines.join('')}`), 2_000);
});
