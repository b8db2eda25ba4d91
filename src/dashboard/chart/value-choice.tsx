// The values of one dimension as a list to tick, found by typing; what is not in the list can be added.
import { useState } from 'preact/hooks';
import { FailureNotice } from '../parts/notice.tsx';
import { Waiting } from '../parts/waiting.tsx';
import type { ChartRecord, DimensionRecord } from '../service/answers.ts';
import type { Client } from '../service/client.ts';
import { useAnswer } from '../service/use-answer.ts';
import { dimensionTitle, useService } from '../service/use-service.ts';
import { type ChartView, chartView, toRequest } from '../view/view.ts';
import { metricOf } from './question.ts';

interface ValueChoiceProps {
  chart: ChartRecord;
  view: ChartView;
  /** The dimension. */
  name: string;
  values: readonly string[];
  onChange: (values: string[]) => void;
}

interface Value {
  value: string;
  title: string;
}

const MOST_LISTED = 200;

/** The values in the chart's days; of a chart that is not segmented so, those of revenue, which is segmented by all. */
async function listSeen(
  client: Client,
  { chart, view, name }: ValueChoiceProps,
  signal: AbortSignal,
): Promise<Value[]> {
  const chart_id = chart.segmentations.includes(name) ? chart.chart_id : 'revenue';
  const { range, zone, date_type } = view;
  const asked: ChartView = { ...chartView(chart_id), range, zone, date_type, period_unit: 'year', segmentation: name };
  const metrics = await client.askChart({ body: toRequest(asked, await client.askToday(zone)), zone, signal });
  const [, ...segments] = metricOf(metrics, view.money).data;
  // What is beyond the most series that an answer has is one of them, and no value.
  const named = segments.filter(({ type, title }) => !(type === 'other' && title === 'Other'));
  return named.map(({ type, title }) => ({ value: type, title }));
}

function withChosen(list: readonly Value[], chosen: readonly string[]): Value[] {
  const missing = chosen.filter((value) => !list.some((one) => one.value === value));
  return [...missing.map((value) => ({ value, title: value === '' ? 'No value' : value })), ...list];
}

function allOf({ values }: DimensionRecord): Value[] {
  return [...(values ?? []), { value: '', title: 'No value' }];
}

export function ValueChoice(props: ValueChoiceProps) {
  const { name, values, onChange } = props;
  const { client, catalogue } = useService();
  const [typed, setTyped] = useState('');
  const dimension = catalogue.dimensions.find((one) => one.name === name);
  const isClosed = dimension?.values != null;
  const { answer, failure, askAgain } = useAnswer(name, async (signal) =>
    isClosed ? allOf(dimension) : listSeen(client, props, signal),
  );
  const sought = typed.trim().toLowerCase();
  const list = withChosen(answer ?? [], values);
  const found = list.filter(({ value, title }) => `${title}\n${value}`.toLowerCase().includes(sought));
  const isNew = sought !== '' && !isClosed && !list.some(({ value }) => value === typed.trim());
  const switchValue = (value: string) =>
    onChange(values.includes(value) ? values.filter((one) => one !== value) : [...values, value]);

  function add() {
    switchValue(typed.trim());
    setTyped('');
  }

  return (
    <fieldset class="value-choice">
      <legend class="unseen">Values of {dimensionTitle(catalogue, name)}</legend>
      <div class="value-search">
        <label class="field">
          <span class="field-label">{isClosed ? 'Find a value' : 'Find a value, or type one'}</span>
          <input
            type="text"
            value={typed}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !isNew) return;
              event.preventDefault();
              add();
            }}
          />
        </label>
        {isNew && (
          <button type="button" onClick={add}>
            Add
          </button>
        )}
      </div>
      <div class="value-list">
        {found.slice(0, MOST_LISTED).map(({ value, title }) => (
          <label key={value} class="value">
            <input type="checkbox" checked={values.includes(value)} onChange={() => switchValue(value)} />
            <span>{title}</span>
            {title !== value && value !== '' && <span class="muted">{value}</span>}
          </label>
        ))}
        {!answer && !failure && <Waiting what="values" />}
        {failure && <FailureNotice failure={failure} onRetry={askAgain} />}
        {answer && found.length === 0 && (
          <p class="muted">{sought ? 'No such value yet.' : 'No values in these days.'}</p>
        )}
        {found.length > MOST_LISTED && <p class="muted">{found.length - MOST_LISTED} more; type to find them.</p>}
      </div>
    </fieldset>
  );
}
