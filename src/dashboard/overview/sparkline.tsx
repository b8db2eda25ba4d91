// A line without axes: the daily values behind a figure, with those of the days before in grey.
import { areaPath, HEIGHT, linePath, WIDTH } from './line-path.ts';

export function Sparkline({ line, before }: { line: readonly number[]; before: readonly number[] }) {
  const all = [...line, ...before];
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="sparkline-area" d={areaPath(line, all)} />
      <path class="sparkline-before" d={linePath(before, all)} />
      <path class="sparkline-now" d={linePath(line, all)} />
    </svg>
  );
}
