// Text in a header: its bytes are UTF-8, which Node hands over as Latin-1.
import { valueError } from '../errors.ts';

// A byte order mark is kept: nothing is stripped (decisions.md 1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws `value_error` where it is no UTF-8. */
export function readHeaderText(name: string, raw: string): string {
  try {
    return utf8.decode(Buffer.from(raw, 'latin1'));
  } catch {
    throw valueError(name, 'Must be text in UTF-8.');
  }
}
