// Unknown names in a file: members of NDJSON, columns of a CSV. Their values are ignored, and the names are reported
// when the import ends, because data under a misspelt name would otherwise be lost silently.
import type { MemberSchema } from './csv-form.ts';

/** How many names of one kind an import reports, in the order in which they appear; a file may have any number. */
export const MAX_NAMES = 100;

type Check = (value: unknown) => void;

function createCheck({ properties = {} }: MemberSchema, onUnknown: (name: string) => void): Check {
  const members = Object.entries(properties).map(([name, member]): [string, Check | null] => [
    name,
    member.properties ? createCheck(member, (inner) => onUnknown(`${name}.${inner}`)) : null,
  ]);
  const known = new Map(members);
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) return;
    for (const name in value) {
      const check = known.get(name);
      if (check) check(value[name as keyof typeof value]);
      else if (check === undefined) onUnknown(name);
    }
  };
}

export interface UnknownNames {
  /** To be called with every record as it was read. */
  check: Check;
  add: (names: readonly string[]) => void;
  names: () => string[];
}

/** Collects the names that are neither in the schema of a record nor in those of its members. */
export function createUnknownNames(schema: object): UnknownNames {
  const names = new Set<string>();
  const add = (name: string) => void (names.size < MAX_NAMES && names.add(name));
  return {
    check: createCheck(schema, add),
    add: (more) => more.forEach(add),
    names: () => [...names],
  };
}
