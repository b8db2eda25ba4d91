// What a failed request means, and whether it is worth trying again.
import { expect, test, vi } from 'vitest';
import { toFailure } from '../../src/dashboard/service/failure.ts';

const envelope = (message: string) => ({ errors: [{ source: 'filters.date', errors: [message] }] });

test('status 400 with an envelope is the request’s own fault, and not worth a retry', () => {
  const { kind, message, details } = toFailure(400, envelope('Must be two days.'));
  expect(kind).toBe('invalid');
  expect([message, ...details]).toEqual(['The service rejected this request.', 'filters.date: Must be two days.']);
});

test('an envelope with another status may be worth a retry', () => {
  const { kind, details } = toFailure(408, envelope('Too late.'));
  expect([kind, ...details]).toEqual(['broken', 'filters.date: Too late.']);
});

test.each([
  [403, undefined],
  [404, null],
  [408, ''],
  [400, { errors: 'rubbish' }],
  [400, { errors: ['rubbish'] }],
  [400, { errors: [null] }],
  [400, {}],
])('status %d with %o is an unexpected response', (status, body) => {
  const { kind, message, details } = toFailure(status, body);
  expect(kind).toBe('broken');
  expect([message, ...details]).toEqual(['The page received an unexpected response.', `Its status is ${status}.`]);
});

test.each([
  [429, undefined, 'Too many requests at once. Try again in a moment.'],
  [429, 60, 'Too many requests at once. Try again in a moment.'],
  [429, 61, 'Too many requests at once. Try again in 2 minutes, after 5 Aug 2026, 10:01:01.'],
  [429, 3600, 'Too many requests at once. Try again in 60 minutes, after 5 Aug 2026, 11:00:00.'],
  [429, 20_000, 'Too many requests at once. Try again in 6 hours, after 5 Aug 2026, 15:33:20.'],
  [
    503,
    172_800,
    'The service is busy or its database is unavailable. Try again in 2 days, after 7 Aug 2026, 10:00:00.',
  ],
  [503, 1, 'The service is busy or its database is unavailable. Try again shortly.'],
])('status %d and a wait of %d seconds is: %s', (status, wait, words) => {
  vi.useFakeTimers({ now: new Date(2026, 7, 5, 10), toFake: ['Date'] });
  expect(toFailure(status, undefined, wait).message).toBe(words);
  vi.useRealTimers();
});
