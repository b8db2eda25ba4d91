// Text in a header: its bytes are UTF-8, which Node hands over as Latin-1.

// A byte order mark is kept: nothing is stripped (decisions.md 1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const UTF8_WORDS = 'Must be text in UTF-8.';

/** Undefined where it is no UTF-8. */
export function readHeaderText(raw: string): string | undefined {
  try {
    return utf8.decode(Buffer.from(raw, 'latin1'));
  } catch {
    return undefined;
  }
}
