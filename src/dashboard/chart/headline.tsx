// The headline: the value of the range, what it means, and how it changed.
import { Change } from '../parts/change.tsx';
import type { ChartRecord, Metric } from '../service/answers.ts';
import { formatRange } from '../words/periods.ts';
import { formatValue } from '../words/values.ts';
import { countsLosses } from './losses.ts';
import { type ChartAnswer, showsChange } from './question.ts';

const VALUE_WORDS = { flow: 'in total', stock: 'at the end', ratio: 'overall' };
/** For a range that is not over. */
const RUNNING_WORDS = { flow: 'in total so far', stock: 'now', ratio: 'overall so far' };

/**
 * Returns the words that say what the value is. By install date, a stock is what each day's installs have come to,
 * which adds up (analytics.md 3).
 */
function wordsOfValue({ kind }: ChartRecord, { view, range, today }: ChartAnswer): string {
  const words = range.first <= today && today <= range.last ? RUNNING_WORDS : VALUE_WORDS;
  return kind === 'stock' && view.date_type === 'profile_install_date' ? words.flow : words[kind];
}

interface HeadlineProps {
  chart: ChartRecord;
  answer: ChartAnswer;
  metric: Metric;
  /** The terms on which the value is counted, without the default ones. */
  terms: readonly string[];
  /** Whether the drawing shows the compared days. They are drawn along with the total. */
  showsCompared: boolean;
}

export function Headline({ chart, answer, metric, terms, showsCompared }: HeadlineProps) {
  const { value, value_from, value_to, compare_value, unit } = metric;
  const isChange = showsChange(answer);
  return (
    <div class="headline">
      <p class="headline-value">{formatValue(value, unit)}</p>
      <p class="muted">
        {formatRange(answer.range)}, {wordsOfValue(chart, answer)}
        {value_to !== null && ` (${formatValue(value_to, 'USD')} ÷ ${formatValue(value_from ?? 0, 'count')})`}
        {terms.map((term) => `, ${term}`)}
      </p>
      {answer.compared && compare_value !== null && (
        <p class="headline-change">
          {isChange && <Change value={value} before={compare_value} isLoss={countsLosses(chart)} />}{' '}
          <span class="muted">
            {isChange ? 'from' : 'compared with'} {formatValue(compare_value, unit)}, {formatRange(answer.compared)}
            {showsCompared && ', in grey'}
          </span>
        </p>
      )}
    </div>
  );
}

/** Returns the same as a sentence that stands by itself. */
export function headlineText(chart: ChartRecord, answer: ChartAnswer, { value, unit }: Metric): string {
  return `${chart.metric_name}, ${formatRange(answer.range)}: ${formatValue(value, unit)} ${wordsOfValue(chart, answer)}`;
}
