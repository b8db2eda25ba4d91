// Comparing texts by code point, as databases and RFCs order them and JavaScript does not.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareCodePoints } from '../../src/lib/code-points.ts';

test('texts are in the order of their bytes in UTF-8', () => {
  const unit = fc.constantFrom('a', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}');
  const text = fc.string({ unit, maxLength: 6 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    {
      examples: [
        ['\u{10000}', '\uffff'],
        ['\ud7ff', '\ue000'],
        ['a', 'ab'],
        ['\u{10000}', '\u{10001}'],
        ['\u{10fffe}', '\u{10ffff}'],
      ],
    },
  );
});
