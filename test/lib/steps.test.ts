// Independent steps: each is taken, and each failure is reported.
import { expect, test } from 'vitest';
import { createSteps } from '../../src/lib/steps.ts';

const failing = (message: string) => Promise.reject(new Error(message));

test('one that fails stops none of the others, and is what is thrown', async () => {
  const steps = createSteps();
  expect(await steps.attempt(failing('one'), 0)).toBe(0);
  expect(await steps.attempt(Promise.resolve(3), 0)).toBe(3);
  expect(() => steps.throwFailures()).toThrow('one');
});

test('of several that fail none is forgotten', async () => {
  const steps = createSteps();
  for (const name of ['one', 'two']) await steps.attempt(failing(name), 0);
  expect(() => steps.throwFailures()).toThrow(
    expect.objectContaining({ message: '2 steps failed', errors: [new Error('one'), new Error('two')] }),
  );
});

test('of many that fail the first few are told, and how many there were', async () => {
  const steps = createSteps();
  for (let i = 1; i <= 7; i++) await steps.attempt(failing(`${i}`), 0);
  expect(() => steps.throwFailures()).toThrow(
    expect.objectContaining({ message: '7 steps failed', errors: ['1', '2', '3', '4', '5'].map((i) => new Error(i)) }),
  );
});

test('where none fails nothing is thrown', async () => {
  const steps = createSteps();
  await steps.attempt(Promise.resolve(1), 0);
  steps.throwFailures();
});
