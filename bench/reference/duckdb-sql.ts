// Writes a chart question as SQL for DuckDB, over the same narrow facts and as one would write it there: days are
// dates, and each segment and bucket is summed on all money bases at once.
import { type Chart, chart } from '../../src/analytics/catalogue.ts';
import { type DimensionName, dimension } from '../../src/analytics/dimensions.ts';
import type { Condition, Entries } from '../../src/analytics/entries.ts';
import type { Question } from '../charts/questions.ts';

const CONDITIONS: Record<Condition, string> = {
  priced: 'revenue > 0',
  trial: 'period = 0',
  paid: 'period between 1 and 7',
  first_paid: 'period = 1',
  one_time: 'period = 8',
  not_refunded: 'refunded_day is null',
  adds_monthly: 'monthly_revenue is not null',
};

const AMOUNTS: Record<Entries['amount'], readonly string[]> = {
  one: ['1', '0', '0'],
  price: ['revenue', 'proceeds', 'net'],
  monthly: ['monthly_revenue', 'monthly_proceeds', 'monthly_net'],
};

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Returns the expression for a dimension's value in the facts; codes stay numbers. */
function dimensionValue(name: DimensionName): string {
  const { home } = dimension(name);
  return 'codes' in home ? home.column : `coalesce(${home.table}.${home.value}, '')`;
}

function joinsOf(names: readonly DimensionName[]): string {
  const columns = new Map(
    names.flatMap((name) => {
      const { home } = dimension(name);
      return 'codes' in home ? [] : [[home.table, home.column] as const];
    }),
  );
  return [...columns].map(([table, column]) => `join ${table} using (${column})`).join(' ');
}

function filterOf(name: DimensionName, values: readonly string[]): string {
  const { home } = dimension(name);
  const known = name === 'country' ? values.map((value) => value.toLowerCase()) : values;
  const list = known.map((value) => ('codes' in home ? String(home.codes.indexOf(value)) : quote(value)));
  return `${dimensionValue(name)} in (${list.join(', ')})`;
}

interface Part {
  select: string;
  from: string;
  where: readonly string[];
}

function dimensionsOf({ segmentation, filters }: Question, of: Entries['of']) {
  const names = Object.keys(filters) as DimensionName[];
  const isOf = (name: DimensionName) => of === 'transaction' || dimension(name).ofInstalls;
  const segment = segmentation && isOf(segmentation) ? segmentation : null;
  return { segment, filters: names.filter(isOf) };
}

function source(question: Question, of: Entries['of']): { segment: string; from: string; where: string[] } {
  const { segment, filters } = dimensionsOf(question, of);
  const table = of === 'install' ? 'fact_install' : 'fact_transaction';
  return {
    segment: segment ? dimensionValue(segment) : "''",
    from: `${table} ${joinsOf([...(segment ? [segment] : []), ...filters])}`,
    where: filters.map((name) => filterOf(name, question.filters[name] ?? [])),
  };
}

function toSql({ select, from, where }: Part): string {
  return `select ${select} from ${from} where ${where.join(' and ')}`;
}

const bucket = (unit: string, day: string) => (unit === 'day' ? day : `date_trunc('month', ${day})`);

/**
 * Selects entries as rows (bucket, segment, amounts); an entry of a stock is selected when it opens and when it closes.
 */
function entryParts(question: Question, entries: Entries): Part[] {
  const { first, last, period_unit } = question;
  const { segment, from, where } = source(question, entries.of);
  const conditions = [...where, ...entries.where.map((one) => CONDITIONS[one])];
  const amounts = (sign: number) =>
    AMOUNTS[entries.amount].map((amount, index) => `${sign * entries.times} * ${amount} as amount_${index}`).join(', ');
  const day = `${entries.at}_day`;
  const [from_, to] = [`date '${first}'`, `date '${last}'`];
  if (!entries.until) {
    const select = `${bucket(period_unit, day)} as bucket, ${segment} as segment, ${amounts(1)}`;
    return [{ select, from, where: [...conditions, `${day} between ${from_} and ${to}`] }];
  }
  const until = `${entries.until}_day`;
  const opened = `${bucket(period_unit, `greatest(${day}, ${from_})`)} as bucket, ${segment} as segment, ${amounts(1)}`;
  const closed = `${bucket(period_unit, `greatest(${until}, ${from_})`)} as bucket, ${segment} as segment, ${amounts(-1)}`;
  return [
    { select: opened, from, where: [...conditions, `${day} <= ${to}`, `${until} >= ${from_}`] },
    { select: closed, from, where: [...conditions, `${day} <= ${to}`, `${until} between ${from_} and ${to}`] },
  ];
}

const SUMS = [0, 1, 2].map((index) => `cast(sum(amount_${index}) as double) as amount_${index}`).join(', ');

function sums(question: Question, { kind, entries }: Chart): string {
  const parts = entries.flatMap((one) => entryParts(question, one)).map(toSql);
  const grouped = `select bucket, segment, ${SUMS} from (${parts.join(' union all ')}) group by bucket, segment`;
  if (kind !== 'stock') return grouped;
  const running = [0, 1, 2].map(
    (index) => `sum(amount_${index}) over (partition by segment order by bucket) as amount_${index}`,
  );
  return `select bucket, segment, ${running.join(', ')} from (${grouped})`;
}

function installs(question: Question): string {
  const { segment, from, where } = source(question, 'install');
  const { first, last, period_unit } = question;
  return `select ${bucket(period_unit, 'installed_day')} as bucket, ${segment} as segment, cast(count(*) as double) as amount_0
    from ${from} where ${[...where, `installed_day between date '${first}' and date '${last}'`].join(' and ')} group by 1, 2`;
}

/** Distinct profiles do not add up, so they are counted per bucket and for the range, per segment and in total. */
function payers(question: Question): string {
  const { segment, from, where } = source(question, 'transaction');
  const { first, last, period_unit } = question;
  return `select bucket, segment, cast(count(distinct profile_id) as double) as amount_0,
      grouping(bucket) = 1 as is_range, grouping(segment) = 1 as is_total
    from (select ${bucket(period_unit, 'purchased_day')} as bucket, ${segment} as segment, profile_id from ${from}
      where ${[...where, `purchased_day between date '${first}' and date '${last}'`, 'revenue > 0'].join(' and ')})
    group by grouping sets ((bucket, segment), (segment), (bucket), ())`;
}

export interface DuckStatements {
  sums: string;
  /** What a ratio is divided by. */
  denominator?: string;
}

export function toStatements(question: Question): DuckStatements {
  const asked = chart(question.chart_id);
  if (asked.kind !== 'ratio') return { sums: sums(question, asked) };
  return { sums: sums(question, asked), denominator: asked.per === 'installs' ? installs(question) : payers(question) };
}
