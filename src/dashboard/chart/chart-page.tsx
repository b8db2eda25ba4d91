// The page of a chart: its controls and filters, the drawing, the series and the table.
import { Heading } from '../parts/heading.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { Status } from '../parts/status.tsx';
import { Waiting } from '../parts/waiting.tsx';
import type { ChartRecord } from '../service/answers.ts';
import { useAnswer } from '../service/use-answer.ts';
import { dimensionTitle, useService } from '../service/use-service.ts';
import { listUnapplied } from '../view/unapplied.ts';
import { readView, show } from '../view/use-view.ts';
import { type ChartView, type Choice, changeView, fitToChart } from '../view/view.ts';
import { Answered } from './answered.tsx';
import { Controls } from './controls.tsx';
import { Filters } from './filters.tsx';
import { headlineText } from './headline.tsx';
import { askView, metricOf, questionOf } from './question.ts';

interface ChartPageProps {
  chart: ChartRecord;
  /** The view as in the address; what the chart does not support is not asked for. */
  view: ChartView;
}

export function ChartPage({ chart, view: asked }: ChartPageProps) {
  const { client, catalogue } = useService();
  const view = fitToChart(asked, chart);
  const { answer, failure, isAsking, askAgain, stop } = useAnswer(questionOf(view), (signal) =>
    askView(client, view, signal),
  );
  function change(choice: Choice): void {
    // Since this was rendered, the user may have gone to another page or chosen something else for this chart.
    const current = readView();
    if (current.page !== 'chart' || current.chart_id !== asked.chart_id) return;
    show(changeView(current, typeof choice === 'function' ? choice(current) : choice));
  }
  const unapplied = listUnapplied(asked, chart, (name) => dimensionTitle(catalogue, name));
  return (
    <>
      <header class="view-header">
        <Heading title={chart.metric_name} />
        <p class="muted">{chart.description}</p>
      </header>
      <Controls chart={chart} view={view} onChange={change} />
      <Filters chart={chart} view={view} unapplied={unapplied} onChange={change} />
      <Status
        what={chart.metric_name}
        isAsking={isAsking}
        words={answer ? headlineText(chart, answer, metricOf(answer.metrics, view.money)) : ''}
      />
      <section class="card chart-card" tabIndex={-1} aria-label={`${chart.metric_name}, chart`} aria-busy={isAsking}>
        {isAsking && <Waiting key={questionOf(view)} what={chart.metric_name} onStop={stop} />}
        {failure && <FailureNotice failure={failure} onRetry={askAgain} />}
        {answer && <Answered chart={chart} view={view} answer={answer} onChange={change} />}
        {!answer && isAsking && <div class="plot-place" />}
      </section>
    </>
  );
}
