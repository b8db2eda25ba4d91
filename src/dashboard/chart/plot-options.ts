// Converts layers into the options and data of uPlot.
import type uPlot from 'uplot';
import type { PeriodUnit } from '../view/view.ts';
import { formatMarks, type Unit } from '../words/values.ts';
import { listMarkLabels, listMarks, VALUE_STEPS, valueRange } from './axis.ts';
import { horizontalExtent, verticalExtent } from './bar-extent.ts';
import type { Layer } from './layers.ts';
import { mix, type Theme } from './theme.ts';

export interface PlotInput {
  layers: readonly Layer[];
  /** The day on which each bucket starts; empty where only the compared days continue. */
  starts: readonly string[];
  unit: PeriodUnit;
  valueUnit: Unit;
}

interface PlotSize {
  width: number;
  height: number;
}

const MARK_WIDTH = 64;
const BAR_SHARE = 0.74;
const MAX_BAR_WIDTH = 56;
const CAP_HEIGHT = 2;
const DASH_WIDTH = 1.5;

/** Draws the bars of one layer, narrower if several stand side by side. With `height`, draws only their ends. */
function drawBars({ slot }: Layer, height?: number): uPlot.Series.PathBuilder {
  // biome-ignore lint/complexity/useMaxParams: uPlot's signature.
  return (plot, seriesIndex, first, last) => {
    const path = new Path2D();
    const ys = plot.data[seriesIndex]!;
    const bucket = plot.valToPos(1, 'x', true) - plot.valToPos(0, 'x', true);
    const whole = Math.min(bucket * BAR_SHARE, MAX_BAR_WIDTH * devicePixelRatio * slot.of);
    const zero = plot.valToPos(0, 'y', true);
    for (let i = first; i <= last; i++) {
      const y = ys[i];
      if (!y) continue;
      const [left, width] = horizontalExtent(plot.valToPos(i, 'x', true), whole, slot);
      const [upper, extent] = verticalExtent(plot.valToPos(y, 'y', true), zero, height && height * devicePixelRatio);
      path.rect(left, upper, width, extent);
    }
    return { stroke: null, fill: path, flags: 1 };
  };
}

function toSeries(layer: Layer, theme: Theme): uPlot.Series {
  // Without a line width uPlot assumes 1 and shifts the whole path by half a pixel, which blurs the edges of the bars.
  const bars = { width: 0, points: { show: false } };
  const colour = theme.colourOf(layer.colour);
  const points = { show: layer.ys.length === 1, size: 7, fill: colour };
  switch (layer.form) {
    case 'bars':
      return { ...bars, fill: colour, paths: drawBars(layer) };
    case 'caps':
      return { ...bars, fill: colour, paths: drawBars(layer, CAP_HEIGHT) };
    case 'area':
      return { stroke: colour, fill: mix(colour, theme.surface, 0.55), width: 1, points };
    case 'tint':
      return { stroke: colour, fill: mix(colour, 'transparent', 0.86), width: 2, points };
    case 'halo':
      // Wider by an even number: otherwise uPlot shifts it by another fraction of a pixel than the dashes.
      return { stroke: theme.surface, width: DASH_WIDTH + 2, points: { ...points, size: 11, fill: theme.surface } };
    case 'dashes':
      return { stroke: colour, width: DASH_WIDTH, dash: [5, 4], points };
    case 'line':
      return { stroke: colour, width: 2, points };
  }
}

function listAxes({ starts, unit, valueUnit }: PlotInput, theme: Theme): uPlot.Axis[] {
  const shared = { stroke: theme.muted, font: theme.font, ticks: { show: false } };
  return [
    {
      ...shared,
      size: 46,
      gap: 8,
      grid: { show: false },
      splits: (plot) => listMarks(starts.length, unit, plot.bbox.width / devicePixelRatio / MARK_WIDTH),
      values: (_, marks) => listMarkLabels(starts, marks, unit),
    },
    {
      ...shared,
      size: (_, words) => Math.max(...(words ?? ['']).map(({ length }) => length), 2) * 7.5 + 14,
      gap: 8,
      space: 44,
      grid: { stroke: theme.grid, width: 1 },
      incrs: VALUE_STEPS[valueUnit],
      values: (_, values) => formatMarks(values, valueUnit),
    },
  ];
}

/** Moves the cursor line to the middle of a bucket. */
function snapToBucket(plot: uPlot, left: number, top: number): [number, number] {
  return [left < 0 ? left : plot.valToPos(plot.posToIdx(left), 'x'), top];
}

export function plotOptions(input: PlotInput, theme: Theme, { width, height }: PlotSize): uPlot.Options {
  const { layers, starts } = input;
  const [min, max] = valueRange(layers.flatMap(({ ys }) => ys));
  return {
    width,
    height,
    padding: [10, 24, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { show: false }, move: snapToBucket },
    scales: { x: { time: false, range: [-0.5, Math.max(starts.length, 1) - 0.5] }, y: { range: [min, max] } },
    axes: listAxes(input, theme),
    series: [{}, ...layers.map((layer) => toSeries(layer, theme))],
  };
}

/** Returns the columns for uPlot: the positions of the buckets, then the values of each layer. */
export function plotData({ layers, starts }: PlotInput): uPlot.AlignedData {
  const column = ({ ys }: Layer) => starts.map((_, i) => ys[i] ?? null);
  return [starts.map((_, i) => i), ...layers.map(column)];
}
