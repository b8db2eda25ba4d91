// The form of a UUID, in upper or lower case. Pure.
export const UUID_FORM = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

const UUID = new RegExp(`^${UUID_FORM}$`);

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
