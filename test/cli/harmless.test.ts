// Text chosen by others reaches a terminal as harmless text, and a program unchanged.
import { expect, test } from 'vitest';
import { harmless, toJson } from '../../src/cli/harmless.ts';

const SENT = 'a\u001b[31m\u009b31m\u007f\u009d0;title\u009cé\n';

test('JSON has no control characters but line feeds, and reads back as what was written', () => {
  for (const json of [toJson({ SENT }), toJson({ SENT }, 2)]) {
    expect(json.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(JSON.parse(json)).toEqual({ SENT });
  }
});

test('text has no control characters at all', () => {
  expect(harmless(SENT)).not.toMatch(/\p{Cc}/u);
});
