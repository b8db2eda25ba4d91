// The text of a JSON value, which decides whether two bodies are the same.
import { expect, test } from 'vitest';
import { canonicalText } from '../../src/lib/canonical-text.ts';

const textOf = (body: unknown) => canonicalText(body, { nullIsNone: false });

test('the order of members makes no other text', () => {
  expect(textOf({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(textOf({ b: [{ d: 3, c: 2 }], a: 1 }));
});

test('nor does a member that is null where that is asked for; an element is one', () => {
  const [nulls, none] = [
    { a: 1, b: null, c: { d: null } },
    { a: 1, c: {} },
  ];
  expect(canonicalText(nulls, { nullIsNone: true })).toBe(canonicalText(none, { nullIsNone: true }));
  expect(canonicalText([null], { nullIsNone: true })).not.toBe(canonicalText([], { nullIsNone: true }));
  expect(textOf(nulls)).not.toBe(textOf(none));
});

test('different values have different texts, also those that JSON writes alike', () => {
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

test('a value nested more deeply than the stack reaches has one too', () => {
  const depth = 1_000_000;
  expect(textOf(JSON.parse(`${'['.repeat(5000)}1${']'.repeat(5000)}`))).toMatch(/\n1$/);
  let body: unknown = 1;
  for (let i = 0; i < depth; i++) body = [body];
  expect(textOf(body).split('\n')).toHaveLength(depth + 1);
});

test('a value of more members than a call has arguments has one too', () => {
  const body = Array.from({ length: 200_000 }, (_, i) => i);
  expect(textOf({ body }).split('\n')).toHaveLength(body.length + 3);
});
