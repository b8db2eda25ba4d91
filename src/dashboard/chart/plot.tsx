// The drawing itself. For the keyboard and screen readers it is a slider over the buckets, read out by the arrow keys.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { type PlotInput, plotData, plotOptions } from './plot-options.ts';
import { readTheme, watchTheme } from './theme.ts';

interface PlotProps extends PlotInput {
  label: string;
  /** The selected bucket, if any. */
  at: number | null;
  /** The bucket that is read out if none is selected. */
  defaultAt: number;
  /** The text that is read out for the bucket. */
  words: string;
  onMove: (place: Place | null) => void;
}

/** A bucket, and where its middle lies in the box, in pixels from the left. */
export interface Place {
  at: number;
  left: number;
  isBeyondMiddle: boolean;
}

const KEYS: Record<string, (at: number, last: number) => number | null> = {
  ArrowLeft: (at) => at - 1,
  ArrowDown: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowUp: (at) => at + 1,
  PageDown: (at) => at - 7,
  PageUp: (at) => at + 7,
  Home: () => 0,
  End: (_, last) => last,
  Escape: () => null,
};

function heightFor(width: number): number {
  return width < 560 ? 260 : 340;
}

/** Returns the place of the bucket under the cursor. */
function placeOf(plot: uPlot): Place | null {
  const { idx, left: pointer = -1 } = plot.cursor;
  if (pointer < 0 || idx == null) return null;
  const left = plot.valToPos(idx, 'x');
  return { at: idx, left: plot.over.offsetLeft + left, isBeyondMiddle: left > plot.over.clientWidth / 2 };
}

/** Draws from scratch after every change, which is cheaper than working out the differences. */
function draw(box: HTMLElement, input: PlotInput, onMove: PlotProps['onMove']): uPlot {
  const width = box.clientWidth;
  const options = plotOptions(input, readTheme(), { width, height: heightFor(width) });
  const setCursor = [(plot: uPlot) => onMove(placeOf(plot))];
  return new uPlot({ ...options, hooks: { setCursor } }, plotData(input), box);
}

export function Plot({ label, at, defaultAt, words, onMove, layers, starts, unit, valueUnit }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const last = starts.length - 1;

  useEffect(() => {
    const element = box.current!;
    const input = { layers, starts, unit, valueUnit };
    const redraw = () => {
      plot.current?.destroy();
      plot.current = draw(element, input, onMove);
    };
    redraw();
    const stopWatching = watchTheme(redraw);
    const sizes = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (!plot.current || width === 0 || width === plot.current.width) return;
      plot.current.setSize({ width, height: heightFor(width) });
      onMove(placeOf(plot.current));
    });
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      stopWatching();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [layers, starts, unit, valueUnit, onMove]);

  function moveTo(next: number | null) {
    const left = next === null ? -10 : plot.current!.valToPos(next, 'x');
    plot.current?.setCursor({ left, top: 0 });
  }

  return (
    <div
      ref={box}
      class="plot"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={1}
      aria-valuemax={Math.max(last + 1, 1)}
      aria-valuenow={(at ?? defaultAt) + 1}
      aria-valuetext={words}
      onKeyDown={(event) => {
        // With these modifiers, the key is a browser shortcut.
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const next = KEYS[event.key]?.(at ?? defaultAt, last);
        if (next === undefined) return;
        event.preventDefault();
        moveTo(next === null ? null : Math.min(Math.max(next, 0), last));
      }}
      onBlur={() => moveTo(null)}
    />
  );
}
