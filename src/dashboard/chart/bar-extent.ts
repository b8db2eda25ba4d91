// Where a bar begins and ends, in pixels from above and from the left. Pure.
import type { Layer } from './layers.ts';

/** The upper edge of a bar and how far it reaches down, in whole pixels; with a height only of its end. */
export function barExtent(end: number, zero: number, height?: number): [number, number] {
  if (height !== undefined) return [Math.round(end > zero ? end - height : end), height];
  const upper = Math.round(Math.min(end, zero));
  return [upper, Math.max(Math.round(Math.max(end, zero)) - upper, 1)];
}

/** The left edge of a bar and its width, in whole pixels: its share of the room in its bucket, and no less than a pixel. */
export function barBreadth(middle: number, room: number, { index, of }: Layer['slot']): [number, number] {
  const share = room / of;
  return [Math.round(middle - room / 2 + index * share), Math.max(Math.round(share), 1)];
}
