// Sums entries from parts with columns `bucket, key, n, a0 …`: stored figures, and their corrections. The parts of a
// stock are differences.
import { sql } from 'kysely';
import { AMOUNTS, type Entries } from './entries.ts';
import type { Sql } from './sources.ts';

/** Selects the rows of all parts, with the amounts of the answer: `bucket, key, n, a0 …`. */
export function partRows(entries: Entries, parts: readonly Sql[]): Sql {
  return sql`select bucket, key, n, ${answerAmounts(entries, (name) => name)} from (${union(parts)}) p`;
}

/** Sums the parts into the rows that counting fact by fact would give: `bucket, key, a0 …`. */
export function sumParts(entries: Entries, parts: readonly Sql[]): Sql {
  return entries.until ? sumStock(entries, parts) : sumFlow(entries, parts);
}

function sumFlow(entries: Entries, parts: readonly Sql[]): Sql {
  return sql`select bucket, key, ${answerAmounts(entries, (name) => sql`sum(${name})`)}
    from (${union(parts)}) p group by 1, 2 having sum(n) <> 0`;
}

/** Sums differences by bucket, for those keys of which anything is open at the end of some bucket. */
function sumStock(entries: Entries, parts: readonly Sql[]): Sql {
  const names = ['n', ...AMOUNTS[entries.amount].map((_, i) => `a${i}`)].map((name) => sql.ref(name));
  const sums = sql.join(names.map((name) => sql`sum(${name}) as ${name}`));
  return sql`select bucket, key, ${answerAmounts(entries, (name) => name)}
    from (
      select *, bool_or(open <> 0) over (partition by key) as is_seen
      from (
        select *, sum(n) over (partition by key order by bucket) as open
        from (select bucket, key, ${sums} from (${union(parts)}) p group by 1, 2) q
      ) r
    ) s where is_seen`;
}

function union(parts: readonly Sql[]): Sql {
  return sql.join([...parts], sql` union all `);
}

/** Returns the amounts of the answer, computed from those of the parts. */
function answerAmounts({ amount, times }: Entries, of: (name: Sql) => Sql): Sql {
  const columns = AMOUNTS[amount];
  if (columns.length === 0) return sql`${of(sql.ref('n'))} * ${sql.lit(times)} as a0`;
  return sql.join(columns.map((_, i) => sql`${of(sql.ref(`a${i}`))} * ${sql.lit(times)} as ${sql.ref(`a${i}`)}`));
}
