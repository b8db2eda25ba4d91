// Messages for when there is nothing to draw.
import { Notice } from '../parts/notice.tsx';
import { VanishingButton } from '../parts/vanishing-button.tsx';
import type { ChartRecord, Metric } from '../service/answers.ts';
import type { ChartView } from '../view/view.ts';
import type { ChartAnswer } from './question.ts';

/**
 * Whether nothing happened in the range. Zeros alone do not prove it: sales and refunds may cancel out, a stock is only
 * the state at the end of a period, and by install date only those who came in these days count. But every event counts
 * one, and whatever has an entry has a segment.
 */
function hasNoEntries({ kind }: ChartRecord, { segmentation, date_type }: ChartView, { unit, data }: Metric): boolean {
  const isConclusive = unit === 'count' || (segmentation !== null && data.length === 1);
  return kind === 'flow' && date_type === 'purchase_date' && isConclusive;
}

interface AllZeroProps {
  chart: ChartRecord;
  answer: ChartAnswer;
  metric: Metric;
}

export function AllZero({ chart, answer, metric }: AllZeroProps) {
  const { range, today, view } = answer;
  const hasBegun = range.first <= today;
  const isFiltered = hasBegun && Object.keys(view.filters).length > 0;
  const words = hasNoEntries(chart, view, metric)
    ? 'Nothing happened on these days.'
    : 'The value is zero in every period.';
  return (
    <Notice title={hasBegun ? words : 'These days are in the future.'}>
      <p class="muted">Choose other days{isFiltered && ' or fewer filters'}.</p>
    </Notice>
  );
}

export function NoSeries({ onReset }: { onReset: () => void }) {
  return (
    <Notice title="All series are switched off.">
      <VanishingButton onClick={onReset}>Show the default series</VanishingButton>
    </Notice>
  );
}
