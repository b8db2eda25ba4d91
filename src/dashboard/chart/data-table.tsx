// The drawn series as a table with one row per bucket.
import { useEffect, useState } from 'preact/hooks';
import { VanishingButton } from '../parts/vanishing-button.tsx';
import type { DayRange } from '../view/days.ts';
import type { PeriodUnit } from '../view/view.ts';
import { bucketDays, bucketNote, dayOf, periodTitle } from '../words/periods.ts';
import { formatValue, type Unit } from '../words/values.ts';
import type { ChartAnswer } from './question.ts';
import { type KeyedSeries, TOTAL } from './series.ts';

/** With hundreds of series, rendering all cells at once would freeze the page for seconds. */
const CELLS_AT_ONCE = 10_000;

interface DataTableProps {
  answer: ChartAnswer;
  series: readonly KeyedSeries[];
  unit: Unit;
  caption: string;
}

/** The name of a bucket, with a note if it is cut off or not over. */
function Period({ days, unit, today }: { days: DayRange; unit: PeriodUnit; today: string }) {
  const note = bucketNote(days, unit, today);
  return (
    <>
      {periodTitle(days.first, unit)}
      {note !== '' && <span class="cut muted">{note}</span>}
    </>
  );
}

/** Returns whether the page is being printed. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const update = ({ type }: Event) => setPrinting(type === 'beforeprint');
    for (const type of ['beforeprint', 'afterprint']) addEventListener(type, update);
    return () => {
      for (const type of ['beforeprint', 'afterprint']) removeEventListener(type, update);
    };
  }, []);
  return isPrinting;
}

export function DataTable({ answer, series, unit, caption }: DataTableProps) {
  const { range, compared: comparedRange, today, view } = answer;
  const starts = series[0]?.values.map(({ x }) => dayOf(x)) ?? [];
  const compared = series.find(({ key }) => key === TOTAL)?.compare_values ?? null;
  const comparedStarts = compared?.map(({ x }) => dayOf(x)) ?? [];
  const [pieces, setPieces] = useState(1);
  const isPrinting = usePrinting();
  const count = Math.max(starts.length, comparedStarts.length);
  const piece = Math.ceil(CELLS_AT_ONCE / series.length);
  const rest = isPrinting ? 0 : Math.max(count - pieces * piece, 0);
  const rows = Array.from({ length: count - rest }, (_, i) => i);
  const period = (bucketStarts: readonly string[], i: number, range: DayRange | null) =>
    bucketStarts[i] &&
    range && <Period days={bucketDays(bucketStarts, i, { range, today })} unit={view.period_unit} today={today} />;
  const cell = (value: number | undefined) => (value === undefined ? '' : formatValue(value, unit));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section class="data-table" tabIndex={0} aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Period</th>
            {series.map(({ key, title }) => (
              <th scope="col" key={key}>
                <span class="series-name" title={title}>
                  {title}
                </span>
              </th>
            ))}
            {compared && <th scope="col">Compared period</th>}
            {compared && <th scope="col">Compared total</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((i) => {
            const own = period(starts, i, range);
            const then = period(comparedStarts, i, comparedRange);
            return (
              <tr key={i}>
                {own ? <th scope="row">{own}</th> : <td />}
                {series.map(({ key, values }) => (
                  <td key={key}>{cell(values[i]?.y)}</td>
                ))}
                {/* Where only the compared days continue, they name the row. */}
                {compared && (own ? <td class="muted">{then}</td> : <th scope="row">{then}</th>)}
                {compared && <td>{cell(compared[i]?.y)}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
      {rest > 0 && (
        <div class="table-rest">
          <p class="muted" role="status">
            {`${rows.length} of ${count} rows`}
          </p>
          <VanishingButton onClick={() => setPieces(pieces + 1)}>Show {Math.min(rest, piece)} more</VanishingButton>
        </div>
      )}
    </section>
  );
}
