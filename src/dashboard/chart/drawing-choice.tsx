// The choice of line, area or bars.
import type { ChartRecord } from '../service/answers.ts';
import { DRAWINGS, type Drawing } from '../view/view.ts';
import { defaultDrawing } from './layers.ts';

const TITLES: Record<Drawing, string> = { line: 'Line', area: 'Area', bars: 'Bars' };

interface DrawingChoiceProps {
  chart: ChartRecord;
  drawing: Drawing | null;
  onChange: (drawing: Drawing) => void;
}

export function DrawingChoice({ chart, drawing, onChange }: DrawingChoiceProps) {
  const chosen = drawing ?? defaultDrawing(chart.kind);
  return (
    <fieldset class="segmented">
      <legend class="unseen">Drawn as</legend>
      {DRAWINGS.map((one) => (
        <label key={one}>
          <input type="radio" name="drawing" checked={one === chosen} onChange={() => onChange(one)} />
          <span>{TITLES[one]}</span>
        </label>
      ))}
    </fieldset>
  );
}
