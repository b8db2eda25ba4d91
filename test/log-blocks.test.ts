// Lines gathered into blocks: all are written, each in one piece and soon. What nobody reads is bounded.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { writeInBlocks } from '../src/log-blocks.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'sps-log-'));
afterAll(() => rmSync(FOLDER, { recursive: true }));

function openLog() {
  const path = join(mkdtempSync(join(FOLDER, 'of-')), 'log');
  return { log: writeInBlocks(openSync(path, 'w'), { onLost: () => {} }), read: () => readFileSync(path, 'utf8') };
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

test('lines that nobody reads are lost beyond a bound, and counted once somebody reads', async () => {
  const path = join(FOLDER, 'pipe');
  spawnSync('mkfifo', [path]);
  const reported: number[] = [];
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const log = writeInBlocks(fd, { onLost: (lines) => reported.push(lines), maxWaitingBytes: 1_000_000 });
  const lines = linesOf(20_000);
  for (const line of lines) log.write(line);
  log.write('last\n');
  expect(reported).toEqual([]);

  let taken = '';
  const reader = spawn('cat', [path]);
  reader.stdout.setEncoding('utf8').on('data', (text) => {
    taken += text;
  });
  await vi.waitFor(() => expect(reported).toHaveLength(1), 5_000);
  log.write('again\n');
  await vi.waitFor(() => expect(taken.endsWith('again\n')).toBe(true), 2_000);
  const kept = taken.split('\n').length - 1;
  expect(taken.length).toBeLessThan(1_200_000);
  expect(kept + reported[0]!).toBe(lines.length + 2);
  reader.kill();
  await once(reader, 'close');
});

test.skipIf(!existsSync('/dev/full'))('a full disk does not end the process', async () => {
  const log = writeInBlocks(openSync('/dev/full', 'w'), { onLost: () => {}, maxWaitingBytes: 100_000 });
  for (const line of linesOf(2_000)) log.write(line);
  await new Promise((resolve) => setTimeout(resolve, 300));
  log.write('still there\n');
});
