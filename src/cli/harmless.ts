// What others chose - a name, a receiver's answer - as it can be shown.

/** The text with nothing that a terminal would obey. */
export function harmless(text: string): string {
  return text.replace(/\p{Cc}/gu, '\uFFFD');
}
