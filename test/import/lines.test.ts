import { expect, test } from 'vitest';
import { type Line, MAX_LINE_BYTES } from '../../src/import/lines.ts';
import { readNdjson } from '../../src/import/ndjson.ts';
import { collect } from './collect.ts';

async function linesOf(content: string | Buffer, size = 1 << 16) {
  const lines = await collect(content, size, (given) => given as AsyncIterable<Line[]>);
  return lines.map(({ number, bytes }) => [number, bytes?.toString()]);
}

test('lines end with LF or CRLF, the last one also without, wherever the chunks are cut', async () => {
  for (const size of [1, 2, 3, 5, 100]) {
    expect(await linesOf('one\r\n\ntwö\nlast', size)).toEqual([
      [1, 'one'],
      [2, ''],
      [3, 'twö'],
      [4, 'last'],
    ]);
  }
});

test('a byte order mark is not part of the first line, wherever the chunks are cut', async () => {
  for (const size of [1, 2, 3, 4, 100]) expect(await linesOf('\uFEFFa\n', size)).toEqual([[1, 'a']]);
});

test('a byte order mark later in the file is text, wherever the chunks are cut', async () => {
  for (const size of [4, 5])
    expect(await linesOf('abc\n\uFEFFd\n', size)).toEqual([
      [1, 'abc'],
      [2, '\uFEFFd'],
    ]);
});

test('a line of 1 MiB is read, a longer one is skipped, and the line after it keeps its number', async () => {
  const longest = 'x'.repeat(MAX_LINE_BYTES);
  expect(await linesOf(`${longest}\n${longest}y\nafter\n`)).toEqual([
    [1, longest],
    [2, undefined],
    [3, 'after'],
  ]);
});

test('NDJSON: blank lines are skipped; what is not JSON or not UTF-8 is reported with its line', async () => {
  const bad = Buffer.from([0x22, 0xff, 0x22, 0x0a]);
  const entries = await collect(
    Buffer.concat([Buffer.from('{"a":1}\n\n  \n{oops\n'), bad, Buffer.from('[2]')]),
    7,
    readNdjson,
  );
  expect(entries).toEqual([
    { line: 1, value: { a: 1 } },
    { line: 4, fault: 'The line is not JSON.', text: '{oops' },
    { line: 5, fault: 'The record is not UTF-8 text.', text: '"\uFFFD"' },
    { line: 6, value: [2] },
  ]);
});
