// The drawing with its tooltip: all values of the bucket that is under the pointer or was selected by keyboard.
import { useMemo, useState } from 'preact/hooks';
import type { ChartRecord } from '../service/answers.ts';
import { bucketDays, bucketNote, dayOf, formatRange, isWhole, periodTitle } from '../words/periods.ts';
import { formatValue, type Unit } from '../words/values.ts';
import { listStarts } from './axis.ts';
import { defaultDrawing, listLayers } from './layers.ts';
import { type Place, Plot } from './plot.tsx';
import type { ChartAnswer } from './question.ts';
import { type Colour, type KeyedSeries, TOTAL } from './series.ts';
import { Swatch } from './swatch.tsx';

interface DrawnChartProps {
  chart: ChartRecord;
  answer: ChartAnswer;
  /** The series that are switched on. */
  series: readonly KeyedSeries[];
  drawing: ChartAnswer['view']['drawing'];
  unit: Unit;
  label: string;
}

/** As many lines as fit beside the drawing. The table has them all. */
const MAX_LINES = 12;

interface Line {
  key: string;
  colour: Colour;
  title: string;
  value: string;
}

function listLines(series: readonly KeyedSeries[], at: number, { answer, unit }: DrawnChartProps): Line[] {
  return series.flatMap(({ key, colour, title, values, compare_values }) => {
    const value = values[at];
    const compared = key === TOTAL ? compare_values?.[at] : undefined;
    const day = compared && periodTitle(dayOf(compared.x), answer.view.period_unit);
    return [
      ...(value ? [{ key, colour, title, value: formatValue(value.y, unit) }] : []),
      ...(compared
        ? [{ key: 'compared', colour: 'compared' as const, title: day!, value: formatValue(compared.y, unit) }]
        : []),
    ];
  });
}

/** Returns what is read out: no more than the tooltip shows, because every key press has all of it read out. */
function spokenText(heading: string, lines: readonly Line[]): string {
  const values = lines.slice(0, MAX_LINES).map(({ title, value }) => `${title} ${value}`);
  const more = lines.length > MAX_LINES ? [`and ${lines.length - MAX_LINES} more`] : [];
  return `${heading}: ${[...values, ...more].join(', ')}`;
}

interface TooltipProps {
  title: string;
  days: string;
  lines: Line[];
  place: Place;
}

function Tooltip({ title, days, lines, place: { left, isBeyondMiddle } }: TooltipProps) {
  return (
    <div class={`tooltip ${isBeyondMiddle ? 'before' : 'behind'}`} style={{ '--left': `${left}px` }} aria-hidden="true">
      <p class="tooltip-title">{title}</p>
      {days !== '' && <p class="muted">{days}</p>}
      <dl>
        {lines.slice(0, MAX_LINES).map(({ key, colour, title: name, value }) => (
          <div key={key}>
            <dt>
              <Swatch colour={colour} /> {name}
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {lines.length > MAX_LINES && <p class="muted">{lines.length - MAX_LINES} more</p>}
    </div>
  );
}

export function DrawnChart(props: DrawnChartProps) {
  const { chart, answer, series, drawing, unit, label } = props;
  const [place, setPlace] = useState<Place | null>(null);
  const { period_unit } = answer.view;
  const starts = useMemo(() => (series[0] ? listStarts(series[0]) : []), [series]);
  const layers = useMemo(
    () => listLayers({ series, drawing: drawing ?? defaultDrawing(chart.kind), addsUp: chart.kind !== 'ratio' }),
    [series, drawing, chart],
  );
  const ownStarts = starts.filter((day) => day !== '');
  // Days that have not begun have no bucket; the days they are compared with may have one.
  const defaultAt = Math.max(ownStarts.length - 1, 0);
  const at = place?.at ?? defaultAt;
  const start = ownStarts[at];
  const title = start === undefined ? 'Compared period' : periodTitle(start, period_unit);
  const range = start === undefined ? undefined : bucketDays(ownStarts, at, answer);
  const note = range ? bucketNote(range, period_unit, answer.today) : '';
  // The title of a week has only its first day. The days of a week that is cut off are in the note.
  const week = range && period_unit === 'week' && isWhole(range, period_unit) ? formatRange(range) : '';
  const days = [week, note].filter(Boolean).join(', ');
  const lines = listLines(series, at, props);
  const words = spokenText([title, note].filter(Boolean).join(', '), lines);
  return (
    <div class="drawn-chart">
      <Plot
        label={label}
        at={place?.at ?? null}
        defaultAt={defaultAt}
        words={words}
        onMove={setPlace}
        layers={layers}
        starts={starts}
        unit={period_unit}
        valueUnit={unit}
      />
      {place && <Tooltip title={title} days={days} lines={lines} place={place} />}
    </div>
  );
}
