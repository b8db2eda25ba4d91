// Output for people: columns under their names, and nothing that a terminal would interpret.
import { expect, test } from 'vitest';
import { formatMembers, formatTable } from '../../src/cli/table.ts';

const ROWS = [
  { id: 'a', urls: ['x', 'y'], count: 0, is_on: false, at: null },
  { id: 'long\u001b[2J', urls: [], count: 12, is_on: true, at: undefined },
];

test('each row is a line, with a dash for what is missing', () => {
  expect(formatTable(ROWS, ['id', 'urls', 'count', 'is_on', 'at']).split('\n')).toEqual([
    'id        urls  count  is_on  at',
    'a         x,y   0      false  -',
    'long\uFFFD[2J        12     true   -',
  ]);
  expect(formatTable([], ['id'])).toBe('(none)');
});

test('a table may have any number of rows', () => {
  const rows = Array.from({ length: 200_000 }, (_, id) => ({ id }));
  expect(formatTable(rows, ['id']).split('\n')).toHaveLength(200_001);
});

test('each member is a line', () => {
  expect(formatMembers(ROWS[1]!).split('\n')).toEqual([
    'id     long\uFFFD[2J',
    'urls   ',
    'count  12',
    'is_on  true',
    'at     -',
  ]);
});
