// Steps that do not need each other: each is taken, and each failure is told.
import { expect, test } from 'vitest';
import { createSteps } from '../../src/lib/steps.ts';

const failing = (message: string) => Promise.reject(new Error(message));

test('one that fails stops none of the others, and is what is thrown', async () => {
  const steps = createSteps();
  expect(await steps.take(failing('one'))).toBe(0);
  expect(await steps.take(Promise.resolve(3))).toBe(3);
  expect(() => steps.end()).toThrow('one');
});

test('of several that fail none is forgotten', async () => {
  const steps = createSteps();
  for (const name of ['one', 'two']) await steps.take(failing(name));
  expect(() => steps.end()).toThrow(
    expect.objectContaining({ message: '2 steps failed', errors: [new Error('one'), new Error('two')] }),
  );
});

test('where none fails nothing is thrown', async () => {
  const steps = createSteps();
  await steps.take(Promise.resolve(1));
  steps.end();
});
