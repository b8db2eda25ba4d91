// The layers of the drawing, in painting order. Segments that add up are stacked and painted from the outermost
// inwards, so that only the outer part of each, its own, stays visible. Pure.
import type { ChartRecord } from '../service/answers.ts';
import type { Drawing } from '../view/view.ts';
import { type Colour, type KeyedSeries, TOTAL } from './series.ts';

export interface Layer {
  key: string;
  colour: Colour;
  ys: (number | null)[];
  form: 'line' | 'halo' | 'dashes' | 'area' | 'tint' | 'bars' | 'caps';
  /** Position among bars that stand side by side. */
  slot: { index: number; of: number };
}

export interface LayerInput {
  series: readonly KeyedSeries[];
  drawing: Drawing;
  /** Whether segments add up to the total: ratios do not. */
  addsUp: boolean;
}

const WHOLE = { index: 0, of: 1 };
/** How the total is painted, alone and beside segments. */
const ALONE = { line: 'line', area: 'tint', bars: 'bars' } as const;
const BESIDE_SEGMENTS = { line: 'line', area: 'line', bars: 'caps' } as const;

/** Puts the values of each series on top of those before it, separately above and below zero. */
export function stack(series: readonly (readonly number[])[]): number[][] {
  const above: number[] = [];
  const below: number[] = [];
  return series.map((ys) =>
    ys.map((y, i) => {
      const side = y < 0 ? below : above;
      side[i] = (side[i] ?? 0) + y;
      return side[i];
    }),
  );
}

function plain(series: KeyedSeries, form: Layer['form'], slot = WHOLE): Layer {
  return { key: series.key, colour: series.colour, ys: series.values.map(({ y }) => y), form, slot };
}

function listSegmentLayers(segments: readonly KeyedSeries[], { drawing, addsUp }: LayerInput): Layer[] {
  if (drawing === 'line') return segments.map((one) => plain(one, 'line')).reverse();
  if (addsUp) {
    const heights = stack(segments.map(({ values }) => values.map(({ y }) => y)));
    return segments.map((one, i) => ({ ...plain(one, drawing), ys: heights[i]! })).reverse();
  }
  return segments.map((one, index) =>
    drawing === 'area' ? plain(one, 'tint') : plain(one, 'bars', { index, of: segments.length }),
  );
}

/** Replaces an area by bars if there is only one bucket: an area needs two, and would be dots at the sums. */
function drawable({ series, drawing }: LayerInput): Drawing {
  return drawing === 'area' && series[0]?.values.length === 1 ? 'bars' : drawing;
}

/** Returns the layers of the drawn series, and of the total of the compared days if there is one. */
export function listLayers(input: LayerInput): Layer[] {
  const { series } = input;
  const drawing = drawable(input);
  const total = series.find(({ key }) => key === TOTAL);
  const segments = series.filter(({ key }) => key !== TOTAL);
  const layers = listSegmentLayers(segments, { ...input, drawing });
  if (total?.compare_values) {
    const ys = total.compare_values.map(({ y }) => y);
    // On the colours of segments, the dashes cannot be made out without an edge in the colour of the page.
    for (const form of ['halo', 'dashes'] as const) {
      layers.push({ key: 'compared', colour: 'compared', ys, form, slot: WHOLE });
    }
  }
  if (total) {
    const forms = segments.length > 0 ? BESIDE_SEGMENTS : ALONE;
    const layer = plain(total, forms[drawing]);
    // Bars would hide the compared line, so they are painted before it.
    if (layer.form === 'bars') layers.unshift(layer);
    else layers.push(layer);
  }
  return layers;
}

const DEFAULT_DRAWINGS: Record<ChartRecord['kind'], Drawing> = { flow: 'bars', stock: 'area', ratio: 'line' };

/** Returns the default drawing for a kind of chart: bars for amounts per period, areas for states over time. */
export function defaultDrawing(kind: ChartRecord['kind']): Drawing {
  return DEFAULT_DRAWINGS[kind];
}
