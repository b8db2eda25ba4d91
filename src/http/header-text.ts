// Text in a header: its bytes are UTF-8, which Node hands over as Latin-1.
import { REPEATED_WORDS, type SentHeader } from './service-headers.ts';

// A byte order mark is kept: nothing is stripped (decisions.md 1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const UTF8_WORDS = 'Must be text in UTF-8.';

/** The text of a header, or what is wrong with it; whoever wants it knows how long it may be. */
export function readHeaderText({ value, isRepeated }: SentHeader): { text: string } | { fault: string } {
  if (isRepeated) return { fault: REPEATED_WORDS };
  try {
    // No U+0000 comes through Node's parser, no unpaired surrogate through this one.
    return { text: utf8.decode(Buffer.from(value, 'latin1')) };
  } catch {
    return { fault: UTF8_WORDS };
  }
}
