// Turns a line of values into an SVG path that fits a box. Pure.

export const WIDTH = 240;
export const HEIGHT = 56;
const EDGE = 3;

/** Returns the path of a line. `all` has the values of every line in the box, so that they share one scale. */
export function linePath(line: readonly number[], all: readonly number[]): string {
  const min = Math.min(0, ...all);
  const extent = Math.max(...all) - min || 1;
  const x = (i: number) => EDGE + (i * (WIDTH - 2 * EDGE)) / Math.max(line.length - 1, 1);
  const y = (value: number) => HEIGHT - EDGE - ((value - min) / extent) * (HEIGHT - 2 * EDGE);
  return line.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join('');
}

/** Returns the path of the area between a line and the lower edge of the box. */
export function areaPath(line: readonly number[], all: readonly number[]): string {
  return line.length > 0 ? `${linePath(line, all)}V${HEIGHT}H${EDGE}Z` : '';
}
