// The order of texts by code point, which is also that of their bytes in UTF-8. Pure.

/** Halves of code points above U+FFFF; as numbers they are below U+E000 to U+FFFF. */
function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Negative, zero or positive; for well-formed texts. */
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
