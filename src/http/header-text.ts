// Text in headers. Its bytes are UTF-8, but Node decodes header bytes as Latin-1.
import { REPEATED_MESSAGE, type SentHeader } from './service-headers.ts';

// `ignoreBOM` keeps a byte order mark: nothing is stripped (decisions.md 1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const UTF8_MESSAGE = 'Must be valid UTF-8.';

/** Returns the text of a header, or what is wrong with it. Callers check its length. */
export function readHeaderText({ value, isRepeated }: SentHeader): { text: string } | { fault: string } {
  if (isRepeated) return { fault: REPEATED_MESSAGE };
  try {
    // Node's HTTP parser lets no U+0000 through, and this decoder no unpaired surrogate.
    return { text: utf8.decode(Buffer.from(value, 'latin1')) };
  } catch {
    return { fault: UTF8_MESSAGE };
  }
}
