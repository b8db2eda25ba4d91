// Which value a text typed into the search field of a filter means.
import { expect, test } from 'vitest';
import {
  canBeAdded,
  distinctTitles,
  findTypedValue,
  isListed,
  NONE,
  withTitle,
} from '../../src/dashboard/chart/filter-values.ts';

const COUNTRIES = [
  { value: 'de', title: 'Germany' },
  { value: 'us', title: 'United States' },
  { value: 'au', title: 'Australia' },
  { value: 'at', title: 'Austria' },
];
const CAMPAIGNS = ['spring', 'Spring', 'spring_2', ''].map((value) => ({ value, title: value || 'Unknown' }));

test.each([
  ['Germany', 'de'],
  [' germany ', 'de'],
  ['DE', 'de'],
  // Australia and Austria contain it, too.
  ['us', 'us'],
  ['aust', undefined],
  ['austri', 'at'],
  ['France', undefined],
])('among countries, %j means %j', (text, value) => {
  expect(findTypedValue(COUNTRIES, text)?.value).toBe(value);
});

test.each([
  ['spring', 'spring'],
  ['Spring', 'Spring'],
  ['SPRING', 'spring'],
  ['unknown', ''],
  ['_2', 'spring_2'],
])('among campaigns, %j means %j', (text, value) => {
  expect(findTypedValue(CAMPAIGNS, text)?.value).toBe(value);
});

test('a value has its title in the list, in whatever case; an unlisted one is its own title', () => {
  expect(withTitle('DE', COUNTRIES)).toEqual({ value: 'DE', title: 'Germany' });
  expect(withTitle('fr', COUNTRIES)).toEqual({ value: 'fr', title: 'fr' });
  expect(withTitle('', [])).toEqual({ value: '', title: 'Unknown' });
  expect(withTitle('SPRING', CAMPAIGNS)).toEqual({ value: 'SPRING', title: 'SPRING' });
  expect(withTitle('  ', CAMPAIGNS)).toEqual({ value: '  ', title: '"  "' });
});

test('titles that several values share are followed by the value', () => {
  const unknown = { value: 'unknown', title: 'Unknown' };
  expect(distinctTitles([...COUNTRIES, unknown, NONE])).toEqual([
    ...COUNTRIES.map(({ title }) => title),
    'Unknown (unknown)',
    'Unknown (no value)',
  ]);
  expect(distinctTitles([NONE])).toEqual(['Unknown']);
  expect(distinctTitles([{ value: '  ', title: '  ' }])).toEqual(['"  "']);
});

test.each([
  ['de', true],
  ['germany', true],
  ['spring', true],
  // Values without titles match exactly.
  ['Spring', false],
  ['unknown', false],
])('%s is listed already: %s', (text, expected) => {
  const list = [{ value: 'de', title: 'Germany' }, { value: 'spring', title: 'spring' }, NONE];
  expect(isListed(list, text)).toBe(expected);
});

test.each([
  ['country', ' IS ', true],
  ['country', 'Iceland', false],
  ['store', 'Iceland', true],
])('an unseen %s can be %j: %s', (dimension, text, expected) => {
  expect(canBeAdded(dimension, text)).toBe(expected);
});
