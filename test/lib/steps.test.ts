// Steps that do not need each other: each is taken, and each failure is told.
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

test('where none fails nothing is thrown', async () => {
  const steps = createSteps();
  await steps.attempt(Promise.resolve(1), 0);
  steps.throwFailures();
});
