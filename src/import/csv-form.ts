// CSV cells → the value that NDJSON would hold: nested members are columns joined by `_`, an empty cell is absent.
// Pure.
import type { CsvForm } from './csv.ts';

/** The parts of a JSON schema that give the names and types of members. */
export interface MemberSchema {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, MemberSchema>>;
}

type Read = (cell: string) => unknown;

/** Where the cells of a column go; `path` has two names for nested members. */
interface Column {
  path: readonly string[];
  read: Read;
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** A cell that is not of its column's type stays text, which the check of the record then rejects. */
const READERS: Readonly<Record<string, Read>> = {
  number: (cell) => (NUMBER.test(cell) && Number.isFinite(Number(cell)) ? Number(cell) : cell),
  boolean: (cell) => (/^(true|false)$/i.test(cell) ? cell.toLowerCase() === 'true' : cell),
};

function readerOf({ type = [] }: MemberSchema): Read {
  const name = [type].flat().find((one) => one in READERS);
  return (name !== undefined && READERS[name]) || ((cell) => cell);
}

function memberColumns(name: string, member: MemberSchema): [string, Column][] {
  if (!member.properties) return [[name, { path: [name], read: readerOf(member) }]];
  return Object.entries(member.properties).flatMap(([inner, schema]): [string, Column][] => {
    const column = { path: [name, inner], read: readerOf(schema) };
    // attribution.attribution_user_id is attribution_attribution_user_id, but nobody would write that.
    const short: [string, Column][] = inner.startsWith(`${name}_`) ? [[inner, column]] : [];
    return [[`${name}_${inner}`, column], ...short];
  });
}

/** Returns how CSV cells are read as values of a JSON schema; columns that the schema does not have are ignored. */
export function createCsvForm(schema: object): CsvForm {
  const members = Object.entries((schema as MemberSchema).properties ?? {});
  const columns = new Map(members.flatMap(([name, member]) => memberColumns(name, member)));
  /** Objects with arbitrary members: `custom_attributes_plan` is the member `plan` of `custom_attributes`. */
  const free = members.filter(([, { type = [], properties }]) => [type].flat().includes('object') && !properties);

  function findColumn(name: string): Column | undefined {
    const known = columns.get(name);
    if (known) return known;
    const [parent] = free.find(([one]) => name.startsWith(`${one}_`)) ?? [];
    return parent === undefined ? undefined : { path: [parent, name.slice(parent.length + 1)], read: readerOf({}) };
  }

  return {
    columnOf: (name) => findColumn(name)?.path.join('_'),
    toValue(cells) {
      const value: Record<string, unknown> = {};
      for (const [name, cell] of Object.entries(cells)) {
        const column = cell === '' ? undefined : findColumn(name);
        if (!column) continue;
        const [outer, inner] = column.path as [string, string | undefined];
        if (inner === undefined) value[outer] = column.read(cell);
        // A column may hold text where nested members belong. The text stays, whichever comes first, and is then
        // rejected.
        else if (typeof value[outer] !== 'string')
          value[outer] = { ...(value[outer] as object | undefined), [inner]: column.read(cell) };
      }
      return value;
    },
  };
}
