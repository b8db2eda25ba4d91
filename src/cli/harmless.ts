// What others chose - a name, a receiver's answer - as it can be shown.

/** JSON with nothing that a terminal would obey: of control characters JSON itself escapes only those below a space. */
export function toJson(value: unknown, indent?: number): string {
  const written = (one: string) => (one === '\n' ? one : `\\u00${one.charCodeAt(0).toString(16)}`);
  return JSON.stringify(value, null, indent).replace(/\p{Cc}/gu, written);
}

/** The text with nothing that a terminal would obey. */
export function harmless(text: string): string {
  return text.replace(/\p{Cc}/gu, '\uFFFD');
}
