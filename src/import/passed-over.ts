// Unknown names in a file: members of NDJSON, columns of a CSV. Their values are ignored, and the names are reported
// when the import ends, because data under a misspelt name would otherwise be lost silently.
import type { MemberSchema } from './csv-form.ts';

/** How many names of one kind an import reports, in the order it meets them; a file may have any number. */
export const MOST_NAMED = 100;

type Watch = (value: unknown) => void;

function createWatch({ properties = {} }: MemberSchema, tell: (name: string) => void): Watch {
  const members = Object.entries(properties).map(([name, member]): [string, Watch | null] => [
    name,
    member.properties ? createWatch(member, (inner) => tell(`${name}.${inner}`)) : null,
  ]);
  const known = new Map(members);
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) return;
    for (const name in value) {
      const watch = known.get(name);
      if (watch) watch(value[name as keyof typeof value]);
      else if (watch === undefined) tell(name);
    }
  };
}

export interface PassedOver {
  /** To be called with every record as it was read. */
  watch: Watch;
  add: (names: readonly string[]) => void;
  names: () => string[];
}

/** Collects the names that are neither in the schema of a record nor in those of its members. */
export function createPassedOver(schema: object): PassedOver {
  const names = new Set<string>();
  const add = (name: string) => void (names.size < MOST_NAMED && names.add(name));
  return {
    watch: createWatch(schema, add),
    add: (more) => more.forEach(add),
    names: () => [...names],
  };
}
