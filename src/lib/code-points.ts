// Orders texts by code point, which is also the order of their UTF-8 bytes. Pure.

/** Surrogates are halves of code points above U+FFFF, but numerically they are below U+E000 to U+FFFF. */
function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Compares two well-formed texts. Returns a negative number, zero or a positive number. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (one === other) continue;
    if (isSurrogate(one) === isSurrogate(other)) return one - other;
    return isSurrogate(one) ? 1 : -1;
  }
  return a.length - b.length;
}
