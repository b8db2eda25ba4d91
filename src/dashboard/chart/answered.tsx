// Shows an answer: the value of the range, the drawing, the series and the table.
import { useMemo } from 'preact/hooks';
import type { ChartRecord, Metric } from '../service/answers.ts';
import type { ChartView, Choice } from '../view/view.ts';
import { formatRange } from '../words/periods.ts';
import { listTerms } from '../words/terms.ts';
import { DataTable } from './data-table.tsx';
import { Download } from './download.tsx';
import { DrawingChoice } from './drawing-choice.tsx';
import { DrawnChart } from './drawn-chart.tsx';
import { AllZero, NoSeries } from './empty-state.tsx';
import { Headline } from './headline.tsx';
import { Legend } from './legend.tsx';
import { countsLosses } from './losses.ts';
import { type ChartAnswer, metricOf, showsChange } from './question.ts';
import { drawnKeys, keySeries, TOTAL, toggleSeries } from './series.ts';

interface AnsweredProps {
  chart: ChartRecord;
  view: ChartView;
  answer: ChartAnswer;
  onChange: (choice: Choice) => void;
}

/**
 * Whether all values are zero, that of the range included: with installs on some days and revenue on others, a ratio
 * has a value over the range and none on any day.
 */
function isEmpty({ data }: Metric): boolean {
  return data.every(
    ({ value, values, compare_value, compare_values }) =>
      value === 0 && !compare_value && [...values, ...(compare_values ?? [])].every(({ y }) => y === 0),
  );
}

export function Answered({ chart, view, answer, onChange }: AnsweredProps) {
  const metric = metricOf(answer.metrics, view.money);
  const series = useMemo(() => keySeries(metric.data), [metric]);
  const drawn = drawnKeys(series, view.series);
  // Keep the same array until a series is switched, whatever else changes: a new array means a new drawing.
  const shown = useMemo(() => series.filter(({ key }) => drawn.includes(key)), [series, drawn.join('\n')]);
  const isNothing = isEmpty(metric);
  const { period_unit, zone, date_type } = answer.view;
  // The answer has every money basis, so the basis comes from the current view.
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
        <AllZero chart={chart} answer={answer} metric={metric} />
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
              showsChange={showsChange(answer)}
              onToggle={(key) => onChange((current) => ({ series: toggleSeries(series, current.series, key) }))}
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
