// The value of the range, what it is, and how it changed.
import { Change } from '../parts/change.tsx';
import type { ChartRecord, Metric } from '../service/answers.ts';
import { formatRange } from '../words/periods.ts';
import { formatValue } from '../words/values.ts';
import { countsLosses } from './losses.ts';
import { type ChartAnswer, tellsChange } from './question.ts';

const VALUE_WORDS = { flow: 'in total', stock: 'at the end', ratio: 'overall' };
/** Of days that are not over. */
const RUNNING_WORDS = { flow: 'in total so far', stock: 'now', ratio: 'overall so far' };

/** By day of install a stock is what each day's installs have come to, which adds up (analytics.md 3). */
function wordsOfValue({ kind }: ChartRecord, { view, range, today }: ChartAnswer): string {
  const words = range.first <= today && today <= range.last ? RUNNING_WORDS : VALUE_WORDS;
  return kind === 'stock' && view.date_type === 'profile_install_date' ? words.flow : words[kind];
}

interface HeadlineProps {
  chart: ChartRecord;
  answer: ChartAnswer;
  metric: Metric;
  /** On which it is counted, but for the usual ones. */
  terms: readonly string[];
  /** Whether the compared days are in the drawing: they are drawn with the total. */
  showsCompared: boolean;
}

export function Headline({ chart, answer, metric, terms, showsCompared }: HeadlineProps) {
  const { value, value_from, value_to, compare_value, unit } = metric;
  const isChange = tellsChange(answer);
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
            {isChange ? 'from' : 'beside'} {formatValue(compare_value, unit)}, {formatRange(answer.compared)}
            {showsCompared && ', in grey'}
          </span>
        </p>
      )}
    </div>
  );
}

/** The same in a sentence, by itself. */
export function sayHeadline(chart: ChartRecord, answer: ChartAnswer, { value, unit }: Metric): string {
  return `${chart.metric_name}, ${formatRange(answer.range)}: ${formatValue(value, unit)} ${wordsOfValue(chart, answer)}`;
}
