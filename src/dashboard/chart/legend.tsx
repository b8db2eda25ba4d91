// The series with their values over the whole range. Each name is a button that switches its series on or off.
import { useState } from 'preact/hooks';
import { Change } from '../parts/change.tsx';
import { formatValue, type Unit } from '../words/values.ts';
import { type KeyedSeries, TOTAL } from './series.ts';
import { Swatch } from './swatch.tsx';

/** As many series as are listed before "Show all" is pressed. */
const MAX_COLLAPSED = 12;

interface LegendProps {
  series: readonly KeyedSeries[];
  drawn: readonly string[];
  unit: Unit;
  isLoss: boolean;
  /** Whether to show the change from the compared values. */
  showsChange: boolean;
  onToggle: (key: string) => void;
}

export function Legend({ series, drawn, unit, isLoss, showsChange, onToggle }: LegendProps) {
  const [isWhole, setWhole] = useState(false);
  const listed = isWhole ? series : series.slice(0, MAX_COLLAPSED);
  const segments = series.filter(({ key }) => key !== TOTAL).length;
  const drawnSegments = drawn.filter((key) => key !== TOTAL).length;
  const compares = series.some(({ compare_value }) => compare_value !== null);
  const compared = <>{drawn.includes(TOTAL) && <Swatch colour="compared" />} Compared</>;
  return (
    <div class="legend">
      <table>
        <caption class="unseen">Series of the chart; the buttons switch them on and off</caption>
        <thead>
          <tr>
            <th scope="col" class="series-heading">
              Series{drawnSegments < segments && `, ${drawnSegments} of ${segments} segments drawn`}
            </th>
            <th scope="col">Value{compares && <span class="compared-line"> {compared}</span>}</th>
            {compares && (
              <th scope="col" class="compared-value">
                {compared}
              </th>
            )}
            {compares && showsChange && <th scope="col">Change</th>}
          </tr>
        </thead>
        <tbody>
          {listed.map(({ key, colour, title, value, compare_value }) => (
            <tr key={key}>
              <th scope="row">
                <button type="button" class="switch" aria-pressed={drawn.includes(key)} onClick={() => onToggle(key)}>
                  <Swatch colour={colour} />
                  <span class="series-name" title={title}>
                    {title}
                  </span>
                </button>
              </th>
              <td>
                {formatValue(value, unit)}
                {compares && <span class="compared-line muted"> {formatValue(compare_value ?? 0, unit)}</span>}
              </td>
              {compares && <td class="muted compared-value">{formatValue(compare_value ?? 0, unit)}</td>}
              {compares && showsChange && (
                <td>
                  <Change value={value} before={compare_value ?? 0} isLoss={isLoss} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {series.length > MAX_COLLAPSED && (
        <button type="button" class="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show all ${series.length} series`}
        </button>
      )}
    </div>
  );
}
