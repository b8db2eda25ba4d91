// Query strings as forms write them.
import { expect, test } from 'vitest';
import { INVALID_UTF8, parseQuery, REPEATED } from '../../src/http/query.ts';

test.each([
  ['', {}],
  ['a=1&b=2', { a: '1', b: '2' }],
  ['a', { a: '' }],
  ['a=&=b', { a: '', '': 'b' }],
  ['a=b=c', { a: 'b=c' }],
  ['&&a=1&', { a: '1' }],
  ['a=1&a=2&a=3', { a: REPEATED }],
  ['a=x+y%2Bz', { a: 'x y+z' }],
  ['%C3%A4=%F0%9F%8D%8F', { ä: '🍏' }],
  ['a=%ff', { a: INVALID_UTF8 }],
  ['%zz=1', { '%zz': '1' }],
  [
    '__proto__=1&constructor=2',
    Object.fromEntries([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]),
  ],
])('%s', (text, expected) => {
  expect(Object.entries(parseQuery(text))).toEqual(Object.entries(expected));
});

/** Measures CPU time: on a busy machine, wall-clock time would include that of other processes. */
function millisecondsOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

test('malformed queries take no longer than others', () => {
  const parse = () => {
    for (let i = 0; i < 10; i++) parseQuery('%=%&'.repeat(10_000));
  };
  expect(millisecondsOf(parse)).toBeLessThan(500);
});

test('a name that occurs thousands of times takes no more than thousands of steps', () => {
  const parse = () => expect(parseQuery('a&'.repeat(100_000)).a).toBe(REPEATED);
  expect(millisecondsOf(parse)).toBeLessThan(2_000);
});
