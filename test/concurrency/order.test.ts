// Tests of the search itself: what it can explain, and what it cannot.
import { expect, test } from 'vitest';
import { emptyWorld } from '../model/model.ts';
import type { Operation, View } from '../model/operations.ts';
import { explain, type Performed } from './order.ts';

const named = { customer: 'anna' };
const create: Operation = { op: 'create', named, attributes: {} };
const remove: Operation = { op: 'delete', named };
const setTo = (a: string): Operation => ({ op: 'update', named, attributes: { a } });
const view = (custom_attributes: View['custom_attributes']): View => ({
  profile_id: 'p',
  customer_user_id: 'anna',
  custom_attributes,
  total_revenue_usd: 0,
  subscription: null,
  access: {},
});

function done(
  operation: Operation,
  shown: View | number,
  [startedAt, endedAt]: [number, number],
  timestamp = 0,
): Performed {
  const outcome =
    typeof shown !== 'number'
      ? { status: 200, view: shown }
      : shown === 404
        ? { status: 404, error_code: 'profile_does_not_exist' }
        : { status: shown };
  return { operation, outcome, startedAt, endedAt, timestamp };
}

const isExplained = (performed: Performed[]) => 'world' in explain(emptyWorld('refuse'), performed);
const created = done(create, view({}), [0, 1]);

test('overlapping operations are explained by whatever order fits', () => {
  expect(isExplained([created, done(setTo('x'), 404, [2, 9]), done(remove, 204, [3, 8])])).toBe(true);
  expect(isExplained([created, done(setTo('x'), view({ a: 'x' }), [2, 9]), done(remove, 204, [3, 8])])).toBe(true);
});

test('operations that follow one another are explained by no other order than theirs', () => {
  expect(isExplained([created, done(setTo('x'), 404, [2, 3]), done(remove, 204, [4, 5])])).toBe(false);
  expect(isExplained([created, done(remove, 204, [2, 3]), done(setTo('x'), view({ a: 'x' }), [4, 5])])).toBe(false);
});

test('a lost update is not explained', () => {
  const other: Operation = { op: 'update', named, attributes: { b: 'y' } };
  const both = [done(setTo('x'), view({ a: 'x' }), [2, 9]), done(other, view({ a: 'x', b: 'y' }), [2, 9])];
  expect(isExplained([created, ...both])).toBe(true);
  const lost = [done(setTo('x'), view({ a: 'x' }), [2, 9]), done(other, view({ b: 'y' }), [2, 9])];
  expect(isExplained([created, ...lost])).toBe(false);
});

test('a later state with an earlier timestamp is not explained', () => {
  const read: Operation = { op: 'read', named };
  const changed = done(setTo('x'), view({ a: 'x' }), [2, 9], 105);
  expect(isExplained([created, changed, done(read, view({ a: 'x' }), [2, 9], 105)])).toBe(true);
  expect(isExplained([created, changed, done(read, view({ a: 'x' }), [2, 9], 104)])).toBe(false);
});
