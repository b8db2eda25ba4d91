// The controls of a chart: days, period unit, segmentation, comparison, date type, money basis, time zone. Only those
// that the chart supports.
import { useRef } from 'preact/hooks';
import { type Option, Select } from '../parts/select.tsx';
import type { ChartRecord } from '../service/answers.ts';
import { dimensionTitle, useService } from '../service/use-service.ts';
import type { Preset } from '../view/days.ts';
import {
  type ChartView,
  type Comparison,
  type DateType,
  type MoneyBasis,
  type PeriodUnit,
  previousRange,
  rangeOf,
} from '../view/view.ts';
import { BASIS_TITLES, DATE_TYPE_TITLES } from '../words/terms.ts';
import { questionOf } from './question.ts';
import { RangeChoice } from './range-choice.tsx';
import { listZoneOptions } from './zones.ts';

function optionsOf<T extends string>(titles: Record<T, string>): (Option & { value: T })[] {
  return (Object.entries(titles) as [T, string][]).map(([value, title]) => ({ value, title }));
}

const RANGES = optionsOf<Preset>({
  last_7_days: 'Last 7 days',
  last_28_days: 'Last 28 days',
  last_90_days: 'Last 90 days',
  this_month: 'This month',
  last_month: 'Last month',
  this_quarter: 'This quarter',
  last_quarter: 'Last quarter',
  last_12_months: 'Last 12 months',
  this_year: 'This year',
});
const UNITS = optionsOf<PeriodUnit>({ day: 'Day', week: 'Week', month: 'Month', quarter: 'Quarter', year: 'Year' });
const COMPARISONS = optionsOf<Comparison | ''>({
  '': 'Nothing',
  previous: 'Previous period',
  year_before: 'Year before',
});
const DATE_TYPES = optionsOf(DATE_TYPE_TITLES);
const BASES = optionsOf(BASIS_TITLES);

interface ControlsProps {
  chart: ChartRecord;
  view: ChartView;
  onChange: (part: Partial<ChartView>) => void;
}

export function Controls({ chart, view, onChange }: ControlsProps) {
  const { client, catalogue } = useService();
  const current = useRef(view);
  current.current = view;
  // The user may choose other days while the answer with today's date is awaited.
  const suggest = async (range: typeof rangeOf) => {
    const today = await client.askToday(view.zone);
    return range(current.current, today);
  };
  const segmentations = chart.segmentations.map((value) => ({ value, title: dimensionTitle(catalogue, value) }));
  return (
    <form class="controls" aria-label="Chart options" onSubmit={(event) => event.preventDefault()}>
      <RangeChoice
        label="Days"
        ends={{ first: 'First day', last: 'Last day' }}
        value={view.range}
        options={RANGES}
        question={questionOf(view)}
        suggested={() => suggest(rangeOf)}
        onChange={(range) => onChange({ range })}
      />
      <Select
        label="Period unit"
        value={view.period_unit}
        options={UNITS}
        onChange={(unit) => onChange({ period_unit: unit as PeriodUnit })}
      />
      <Select
        label="Segmentation"
        value={view.segmentation ?? ''}
        options={[{ value: '', title: 'None' }, ...segmentations]}
        onChange={(name) => onChange({ segmentation: name || null, series: null })}
      />
      {chart.compares && (
        <RangeChoice
          label="Compared with"
          ends={{ first: 'Compared from', last: 'Compared to' }}
          value={view.compare ?? ''}
          options={COMPARISONS}
          question={questionOf(view)}
          suggested={() => suggest(previousRange)}
          onChange={(compare) => onChange({ compare: compare || null })}
        />
      )}
      <Select
        label="Counted by"
        value={view.date_type}
        options={DATE_TYPES}
        onChange={(type) => onChange({ date_type: type as DateType })}
      />
      {chart.unit === 'USD' && (
        <Select
          label="Money"
          value={view.money}
          options={BASES}
          onChange={(money) => onChange({ money: money as MoneyBasis })}
        />
      )}
      <Select
        label="Time zone"
        value={view.zone ?? ''}
        options={listZoneOptions(view.zone)}
        onChange={(zone) => onChange({ zone: zone || null })}
      />
    </form>
  );
}
