// Values to filter by: what they are called, and which of them typed text means. Pure.

export interface Value {
  value: string;
  title: string;
}

/** As the service calls a segment of nothing. */
export const NONE: Value = { value: '', title: 'Unknown' };

/** Blanks are told as such: nobody sees them. */
const visible = (title: string) => (title !== '' && title.trim() === '' ? JSON.stringify(title) : title);

/**
 * Titles of which no two are alike: with their value beside them where they were. What has no value and the value `unknown` of a status
 * have one title, and an app may name a campaign like them.
 */
export function tellApart(list: readonly Value[]): string[] {
  return list.map(({ value, title }) =>
    list.filter((other) => other.title === title).length > 1 ? `${title} (${value || 'no value'})` : visible(title),
  );
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** A value with the title of the list; one with a title of its own may be written in any case. */
export function entitle(value: string, list: readonly Value[]): Value {
  const known =
    list.find((one) => one.value === value) ?? list.find((one) => one.title !== one.value && isSame(one.value, value));
  return { value, title: known?.title ?? (value === '' ? NONE.title : visible(value)) };
}

/** Whether the text can be a value that was not seen: countries are asked for by their codes (analytics.md 3). */
export function isTakeable(dimension: string, text: string): boolean {
  return dimension !== 'country' || /^[a-z]{2}$/i.test(text.trim());
}

/** Those that have the text in them. */
export function searchValues(list: readonly Value[], text: string): Value[] {
  const sought = text.trim().toLowerCase();
  return list.filter(({ value, title }) => `${title}\n${value}`.toLowerCase().includes(sought));
}

/** Whether the text is a value of the list as it stands, or another way to write one that has a title of its own. */
export function isListed(list: readonly Value[], text: string): boolean {
  const name = text.trim();
  const isCalled = ({ value, title }: Value) => isSame(value, name) || isSame(title, name);
  return list.some((one) => one.value === name || (one.value !== '' && one.title !== one.value && isCalled(one)));
}

/** The value that is, or is called, as the text says in any case. */
export function findNamed(list: readonly Value[], text: string): Value | undefined {
  const name = text.trim();
  return (
    list.find(({ value }) => value === name) ??
    list.find(({ value, title }) => isSame(value, name) || isSame(title, name))
  );
}

/** The value that typed text means: the one of that name, else the only one that has it in it. */
export function findMeant(list: readonly Value[], text: string): Value | undefined {
  const [first, ...others] = searchValues(list, text);
  return findNamed(list, text) ?? (others.length === 0 ? first : undefined);
}
