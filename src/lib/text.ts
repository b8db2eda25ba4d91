// Which texts the database can hold, and how long a text is. Pure.

export const TEXT_MESSAGE = 'Must not contain U+0000 or unpaired surrogates.';

/** Postgres text holds every Unicode scalar value but U+0000. */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Whether a member counts as not sent (decisions.md 3). */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Returns the length in code points. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
