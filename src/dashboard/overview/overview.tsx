// The overview: six figures, each linked to its chart.
import { Change } from '../parts/change.tsx';
import { Heading } from '../parts/heading.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { Waiting } from '../parts/waiting.tsx';
import type { ChartRecord } from '../service/answers.ts';
import { useAnswer } from '../service/use-answer.ts';
import { findChart, useService } from '../service/use-service.ts';
import { writeAddress } from '../view/address.ts';
import { chartView } from '../view/view.ts';
import { formatValue } from '../words/values.ts';
import { askFigure, FIGURES, type Figure } from './figures.ts';
import { Sparkline } from './sparkline.tsx';

function FigureValue({ chart, figure }: { chart: ChartRecord; figure: Figure }) {
  const { value, before, unit, line, lineBefore } = figure;
  const compared = chart.compares ? 'previous' : null;
  return (
    <a class="figure-link" href={writeAddress({ ...chartView(chart.chart_id), compare: compared })}>
      <h2>{chart.metric_name}</h2>
      <p class="figure-value">{formatValue(value, unit)}</p>
      <p class="figure-change">
        <Change value={value} before={before} /> <span class="muted">from {formatValue(before, unit)}</span>
      </p>
      <Sparkline line={line} before={lineBefore} />
    </a>
  );
}

function FigureCard({ chart }: { chart: ChartRecord }) {
  const { client } = useService();
  const { answer, failure, askAgain, stop } = useAnswer(chart.chart_id, (signal) => askFigure(client, chart, signal));
  return (
    <li class="card figure" tabIndex={-1} aria-busy={!answer && !failure}>
      {answer && <FigureValue chart={chart} figure={answer} />}
      {!answer && <h2>{chart.metric_name}</h2>}
      {failure && <FailureNotice failure={failure} onRetry={askAgain} />}
      {!answer && !failure && <Waiting what={chart.metric_name} onStop={stop} />}
    </li>
  );
}

export function Overview() {
  const { catalogue } = useService();
  return (
    <>
      <header class="view-header">
        <Heading title="Overview" />
        <p class="muted">The last 28 days, including today; the 28 days before in grey. In the app’s time zone.</p>
      </header>
      <ul class="figures">
        {FIGURES.map((chartId) => {
          const chart = findChart(catalogue, chartId);
          return chart && <FigureCard key={chartId} chart={chart} />;
        })}
      </ul>
    </>
  );
}
