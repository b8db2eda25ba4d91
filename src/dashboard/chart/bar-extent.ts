// Where a bar begins and ends, in pixels from above. Pure.

/** The upper edge of a bar and how far it reaches down, in whole pixels; with a height only of its end. */
export function barExtent(end: number, zero: number, height?: number): [number, number] {
  if (height !== undefined) return [Math.round(end > zero ? end - height : end), height];
  const upper = Math.round(Math.min(end, zero));
  return [upper, Math.max(Math.round(Math.max(end, zero)) - upper, 1)];
}
