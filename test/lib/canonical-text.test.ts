// The text of a JSON value, which decides whether two bodies are the same.
import { expect, test } from 'vitest';
import { canonicalText } from '../../src/lib/canonical-text.ts';

const textOf = (body: unknown) => canonicalText(body, { nullIsNone: false });

test('the order of members does not change the text', () => {
  expect(textOf({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(textOf({ b: [{ d: 3, c: 2 }], a: 1 }));
});

test('a member that is null does not change the text if nulls count as absent, but an element does', () => {
  const [nulls, none] = [
    { a: 1, b: null, c: { d: null } },
    { a: 1, c: {} },
  ];
  expect(canonicalText(nulls, { nullIsNone: true })).toBe(canonicalText(none, { nullIsNone: true }));
  expect(canonicalText([null], { nullIsNone: true })).not.toBe(canonicalText([], { nullIsNone: true }));
  expect(textOf(nulls)).not.toBe(textOf(none));
});

test('different values have different texts, even those that JSON writes alike', () => {
  const bodies = [
    'null',
    '1e999',
    '-1e999',
    '"null"',
    '"1"',
    '1',
    '[]',
    '{}',
    '[1]',
    '[[1]]',
    '[2,[1]]',
    '[[2,1]]',
    '{"a":1}',
    '["a",1]',
    '""',
  ];
  expect(new Set(bodies.map((body) => textOf(JSON.parse(body)))).size).toBe(bodies.length);
});

test('a value nested more deeply than the stack reaches has a text', () => {
  const depth = 1_000_000;
  expect(textOf(JSON.parse(`${'['.repeat(5000)}1${']'.repeat(5000)}`))).toMatch(/\n1$/);
  let body: unknown = 1;
  for (let i = 0; i < depth; i++) body = [body];
  expect(textOf(body).split('\n')).toHaveLength(depth + 1);
});

test('a value with more members than a call has arguments has a text', () => {
  const body = Array.from({ length: 200_000 }, (_, i) => i);
  expect(textOf({ body }).split('\n')).toHaveLength(body.length + 3);
});
