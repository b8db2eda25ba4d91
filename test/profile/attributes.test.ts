// Interface 8 to the letter: what can be an attribute, how it is stored, and what deletes it.
import { describe, expect, it } from 'vitest';
import { mergeAttributes, readAttributes } from '../../src/profile/attributes.ts';

function changesOf(given: unknown): [string, string | number | null][] {
  const read = readAttributes(given);
  if ('fault' in read) throw new Error(read.fault.message);
  return [...read.changes];
}

function faultOf(given: unknown) {
  const read = readAttributes(given);
  if ('changes' in read) throw new Error('it was accepted');
  return read.fault;
}

describe('what is accepted', () => {
  it('reads a dictionary and an array alike', () => {
    expect(changesOf({ plan: 'gold', age: 33.5 })).toEqual([
      ['plan', 'gold'],
      ['age', 33.5],
    ]);
    expect(changesOf([{ key: 'plan', value: 'gold' }])).toEqual([['plan', 'gold']]);
    expect(changesOf(null)).toEqual([]);
  });

  it('turns booleans and integers into floats', () => {
    expect(changesOf({ yes: true, no: false, three: 3 })).toEqual([
      ['yes', 1],
      ['no', 0],
      ['three', 3],
    ]);
  });

  it('deletes on an empty value or null, and also if an element has no value', () => {
    expect(changesOf({ a: '', b: null })).toEqual([
      ['a', null],
      ['b', null],
    ]);
    expect(changesOf([{ key: 'c' }])).toEqual([['c', null]]);
  });

  it('takes a key twice if both values are the same', () => {
    const twice = [
      { key: 'yes', value: 1 },
      { key: 'yes', value: true },
    ];
    expect(changesOf(twice)).toEqual([['yes', 1]]);
  });

  it('counts characters as code points', () => {
    expect(changesOf({ a: '😀'.repeat(30) })).toHaveLength(1);
    expect(faultOf({ a: '😀'.repeat(31) }).message).toContain('at most 30 characters');
  });

  it('takes keys of 30 letters, digits, dashes, points and underscores, including __proto__', () => {
    expect(changesOf({ ['aZ0-._'.repeat(5)]: 'x' })).toHaveLength(1);
    const given = JSON.parse('{"__proto__": "x"}');
    expect(changesOf(given)).toEqual([['__proto__', 'x']]);
    const read = readAttributes(given);
    const merged = 'changes' in read && mergeAttributes({}, read.changes);
    expect(JSON.stringify(merged)).toBe('{"attributes":{"__proto__":"x"}}');
  });
});

describe('what is refused, naming the key', () => {
  it.each([
    ['a key of 31 characters', { ['k'.repeat(31)]: 'x' }, 'value_error', 'k'.repeat(31)],
    ['an empty key', { '': 'x' }, 'value_error', '""'],
    ['a key with a space', { 'a b': 'x' }, 'value_error', '"a b"'],
    ['a letter beyond ASCII', { naïve: 'x' }, 'value_error', 'naïve'],
    ['a forbidden key that is being deleted', { 'a b': null }, 'value_error', '"a b"'],
    ['a value of 31 characters', { plan: 'x'.repeat(31) }, 'value_error', 'plan'],
    ['an object', { plan: { a: 1 } }, 'value_error', 'plan'],
    ['an array', { plan: [] }, 'value_error', 'plan'],
    ['infinity', JSON.parse('{"plan": 1e999}'), 'value_error', 'plan'],
    ['minus infinity', JSON.parse('{"plan": -1e999}'), 'value_error', 'plan'],
    ['U+0000', { plan: 'a\u0000' }, 'value_error', 'plan'],
    ['an unpaired surrogate', { plan: '\ud800' }, 'value_error', 'plan'],
    [
      'one key with two values',
      [
        { key: 'plan', value: 'a' },
        { key: 'plan', value: 'b' },
      ],
      'value_error',
      'plan',
    ],
    ['a long key, of which the beginning is shown', { ['k'.repeat(41)]: 'x' }, 'value_error', `"${'k'.repeat(40)}"`],
    ['an element without a key', [{ value: 'a' }], 'missing', 'key'],
    ['an element whose key is null', [{ key: null, value: 'a' }], 'missing', 'key'],
    ['an element that is not an object', ['plan'], 'type_error', 'array'],
    ['a key that is not a string', [{ key: 5 }], 'type_error', 'string'],
    ['text', 'plan=gold', 'type_error', 'dictionary'],
  ])('%s', (_, given, code, named) => {
    expect(faultOf(given)).toEqual({ source: 'custom_attributes', code, message: expect.stringContaining(named) });
  });
});

describe('merging', () => {
  const thirty = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`key_${index}`, index]));

  it('keeps what is not named', () => {
    expect(mergeAttributes({ a: 'x', b: 'y' }, new Map([['b', null]]))).toEqual({ attributes: { a: 'x' } });
  });

  it('holds at most 30, counted after the deletions', () => {
    expect(mergeAttributes(thirty, new Map([['more', 'x']]))).toEqual({
      fault: { source: 'custom_attributes', code: 'value_error', message: expect.stringContaining('more') },
    });
    const withDeletion = new Map<string, string | null>([
      ['more', 'x'],
      ['unknown', null],
    ]);
    expect(mergeAttributes(thirty, withDeletion)).toMatchObject({
      fault: { message: expect.stringContaining('with more it would have 31') },
    });
    const swapped = mergeAttributes(
      thirty,
      new Map<string, string | null>([
        ['more', 'x'],
        ['key_0', null],
      ]),
    );
    expect('attributes' in swapped && Object.keys(swapped.attributes)).toHaveLength(30);
  });
});
