// Makes text that others chose, such as a name or a receiver's answer, safe to show.

/**
 * Returns JSON with nothing that a terminal would obey: JSON itself escapes only the control characters below the
 * space.
 */
export function toJson(value: unknown, indent?: number): string {
  const written = (one: string) => (one === '\n' ? one : `\\u00${one.charCodeAt(0).toString(16)}`);
  return JSON.stringify(value, null, indent).replace(/\p{Cc}/gu, written);
}

/** Returns the text with nothing that a terminal would obey. */
export function harmless(text: string): string {
  return text.replace(/\p{Cc}/gu, '\uFFFD');
}
