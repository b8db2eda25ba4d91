// Entries as the sum of parts, `bucket, key, n, a0 …`: those kept, and what these lack or have too much of. A stock comes in differences.
import { sql } from 'kysely';
import { AMOUNTS, type Entries } from './entries.ts';
import type { Sql } from './sources.ts';

/** The rows of parts with the sums of the answer: `bucket, key, n, a0 …`. */
export function partRows(entries: Entries, parts: readonly Sql[]): Sql {
  return sql`select bucket, key, n, ${answerAmounts(entries, (name) => name)} from (${union(parts)}) p`;
}

/** The same rows as fact by fact: `bucket, key, a0 …`. */
export function sumParts(entries: Entries, parts: readonly Sql[]): Sql {
  return entries.until ? sumStock(entries, parts) : sumFlow(entries, parts);
}

function sumFlow(entries: Entries, parts: readonly Sql[]): Sql {
  return sql`select bucket, key, ${answerAmounts(entries, (name) => sql`sum(${name})`)}
    from (${union(parts)}) p group by 1, 2 having sum(n) <> 0`;
}

/** Differences by bucket, of the keys of which anything is open at the end of any bucket. */
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

/** The sums of the answer from those of the parts. */
function answerAmounts({ amount, times }: Entries, of: (name: Sql) => Sql): Sql {
  const columns = AMOUNTS[amount];
  if (columns.length === 0) return sql`${of(sql.ref('n'))} * ${sql.lit(times)} as a0`;
  return sql.join(columns.map((_, i) => sql`${of(sql.ref(`a${i}`))} * ${sql.lit(times)} as ${sql.ref(`a${i}`)}`));
}
