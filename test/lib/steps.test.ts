// Independent steps: each is taken, and each failure is reported.
import { expect, test } from 'vitest';
import { createSteps } from '../../src/lib/steps.ts';

const failing = (message: string) => Promise.reject(new Error(message));

test('a step that fails stops none of the others, and its error is thrown', async () => {
  const steps = createSteps();
  expect(await steps.attempt(failing('one'), 0)).toBe(0);
  expect(await steps.attempt(Promise.resolve(3), 0)).toBe(3);
  expect(() => steps.throwFailures()).toThrow('one');
});

test('if several steps fail, no error is forgotten', async () => {
  const steps = createSteps();
  for (const name of ['one', 'two']) await steps.attempt(failing(name), 0);
  expect(() => steps.throwFailures()).toThrow(
    expect.objectContaining({ message: '2 steps failed', errors: [new Error('one'), new Error('two')] }),
  );
});

test('if many steps fail, the first few errors are reported, and how many there were', async () => {
  const steps = createSteps();
  for (let i = 1; i <= 7; i++) await steps.attempt(failing(`${i}`), 0);
  expect(() => steps.throwFailures()).toThrow(
    expect.objectContaining({ message: '7 steps failed', errors: ['1', '2', '3', '4', '5'].map((i) => new Error(i)) }),
  );
});

test('if no step fails, nothing is thrown', async () => {
  const steps = createSteps();
  await steps.attempt(Promise.resolve(1), 0);
  steps.throwFailures();
});
