import { expect, test } from 'vitest';
import { memoize } from '../../src/lib/memoize.ts';

function counting<T>(max: number, compute: (text: string) => T) {
  const made: string[] = [];
  const remembered = memoize(max, (text) => {
    made.push(text);
    return compute(text);
  });
  return { made, remembered };
}

test('the result for a text is cached until there are too many texts', () => {
  const { made, remembered } = counting(2, (text) => ({ text }));
  const one = remembered('a');
  expect([remembered('b').text, remembered('a') === one, made]).toEqual(['b', true, ['a', 'b']]);
  expect(remembered('c')).toEqual({ text: 'c' });
  expect(remembered('a')).not.toBe(one);
  expect(made).toEqual(['a', 'b', 'c', 'a']);
});

test('undefined is not cached, and takes no room', () => {
  const { made, remembered } = counting(1, (text) => (text === 'a' ? 1 : undefined));
  expect(['a', 'b', 'b', 'a'].map(remembered)).toEqual([1, undefined, undefined, 1]);
  expect(made).toEqual(['a', 'b', 'b']);
});
