// Values to filter by: their titles, and which of them a typed text means. Pure.

export interface Value {
  value: string;
  title: string;
}

/** The segment without a value, as the service calls it. */
export const NONE: Value = { value: '', title: 'Unknown' };

/** Quotes a title of blanks alone, which nobody would see. */
const visible = (title: string) => (title !== '' && title.trim() === '' ? JSON.stringify(title) : title);

/**
 * Returns distinct titles: a title that several values share is followed by the value. The segment without a value and
 * the value `unknown` of a status share a title, and an app may give a campaign the same name.
 */
export function distinctTitles(list: readonly Value[]): string[] {
  return list.map(({ value, title }) =>
    list.filter((other) => other.title === title).length > 1 ? `${title} (${value || 'no value'})` : visible(title),
  );
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Looks up the title of a value in the list. A value whose title differs from it may be written in any case. */
export function withTitle(value: string, list: readonly Value[]): Value {
  const known =
    list.find((one) => one.value === value) ?? list.find((one) => one.title !== one.value && isSame(one.value, value));
  return { value, title: known?.title ?? (value === '' ? NONE.title : visible(value)) };
}

/** Whether the text can be a value that was not seen. Countries are asked for by their codes (analytics.md 3). */
export function canBeAdded(dimension: string, text: string): boolean {
  return dimension !== 'country' || /^[a-z]{2}$/i.test(text.trim());
}

/** Returns the values that contain the text, in the value or in its title. */
export function searchValues(list: readonly Value[], text: string): Value[] {
  const sought = text.trim().toLowerCase();
  return list.filter(({ value, title }) => `${title}\n${value}`.toLowerCase().includes(sought));
}

/** Whether the text is exactly a value of the list, or another way to write one whose title differs from it. */
export function isListed(list: readonly Value[], text: string): boolean {
  const name = text.trim();
  const hasName = ({ value, title }: Value) => isSame(value, name) || isSame(title, name);
  return list.some((one) => one.value === name || (one.value !== '' && one.title !== one.value && hasName(one)));
}

/** Finds the value that is exactly the text; failing that, one whose value or title is the text in any case. */
export function findNamed(list: readonly Value[], text: string): Value | undefined {
  const name = text.trim();
  return (
    list.find(({ value }) => value === name) ??
    list.find(({ value, title }) => isSame(value, name) || isSame(title, name))
  );
}

/** Finds the value that typed text means: the one of that name, else the only one that contains it. */
export function findTypedValue(list: readonly Value[], text: string): Value | undefined {
  const [first, ...others] = searchValues(list, text);
  return findNamed(list, text) ?? (others.length === 0 ? first : undefined);
}
