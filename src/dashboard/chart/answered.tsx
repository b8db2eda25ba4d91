// What an answer shows: the value of the range, the drawing, the series and the table.
import { useMemo } from 'preact/hooks';
import { Change } from '../parts/change.tsx';
import type { ChartRecord, Metric } from '../service/answers.ts';
import type { ChartView } from '../view/view.ts';
import { formatRange } from '../words/periods.ts';
import { listTerms } from '../words/terms.ts';
import { formatValue } from '../words/values.ts';
import { DataTable } from './data-table.tsx';
import { Download } from './download.tsx';
import { DrawingChoice } from './drawing-choice.tsx';
import { DrawnChart } from './drawn-chart.tsx';
import { Legend } from './legend.tsx';
import { countsLosses } from './losses.ts';
import { AllZero, NoSeries } from './nothing.tsx';
import { type ChartAnswer, metricOf } from './question.ts';
import { drawnKeys, keySeries, switchKey, TOTAL } from './series.ts';

interface AnsweredProps {
  chart: ChartRecord;
  view: ChartView;
  answer: ChartAnswer;
  onChange: (part: Partial<ChartView>) => void;
}

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

function Headline({ chart, answer, metric, terms, showsCompared }: HeadlineProps) {
  const { value, value_from, value_to, compare_value, unit } = metric;
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
          <Change value={value} before={compare_value} isLoss={countsLosses(chart)} />{' '}
          <span class="muted">
            from {formatValue(compare_value, unit)}, {formatRange(answer.compared)}
            {showsCompared && ', in grey'}
          </span>
        </p>
      )}
    </div>
  );
}

function isEmpty({ data }: Metric): boolean {
  return data.every(({ values, compare_values }) => [...values, ...(compare_values ?? [])].every(({ y }) => y === 0));
}

export function Answered({ chart, view, answer, onChange }: AnsweredProps) {
  const metric = metricOf(answer.metrics, view.money);
  const series = useMemo(() => keySeries(metric.data), [metric]);
  const drawn = drawnKeys(series, view.series);
  // One array as long as nothing is switched, whatever else changes: for another one the drawing is made anew.
  const shown = useMemo(() => series.filter(({ key }) => drawn.includes(key)), [series, drawn.join('\n')]);
  const isNothing = isEmpty(metric);
  const { period_unit, zone, date_type } = answer.view;
  // The basis is chosen among what was answered.
  const terms = listTerms({ money: view.money, zone, date_type }, metric.unit);
  const label = [`${chart.metric_name} by ${period_unit}`, formatRange(answer.range), ...terms].join(', ');
  return (
    <>
      <div class="chart-top">
        <Headline
          chart={chart}
          answer={answer}
          metric={metric}
          terms={terms}
          showsCompared={!isNothing && drawn.includes(TOTAL)}
        />
        <div class="chart-tools">
          <DrawingChoice chart={chart} drawing={view.drawing} onChange={(drawing) => onChange({ drawing })} />
          <Download chart={chart} view={view} answer={answer} />
        </div>
      </div>
      {isNothing ? (
        <AllZero kind={chart.kind} answer={answer} />
      ) : (
        <>
          {shown.length > 0 ? (
            <DrawnChart
              chart={chart}
              answer={answer}
              series={shown}
              drawing={view.drawing}
              unit={metric.unit}
              label={label}
            />
          ) : (
            <NoSeries onReset={() => onChange({ series: null })} />
          )}
          {(series.length > 1 || answer.compared) && (
            <Legend
              series={series}
              drawn={drawn}
              unit={metric.unit}
              isLoss={countsLosses(chart)}
              onSwitch={(key) => onChange({ series: switchKey(series, view.series, key) })}
            />
          )}
          {shown.length > 0 && (
            <>
              <h2 class="table-title">Table</h2>
              <DataTable answer={answer} series={shown} unit={metric.unit} caption={`${label}, table`} />
            </>
          )}
        </>
      )}
    </>
  );
}
