// Where a bar begins and ends, in pixels from the top and from the left. Pure.
import type { Layer } from './layers.ts';

/**
 * Returns the upper edge of a bar and its height, in whole pixels. With `height`, covers only that much of the bar's
 * end.
 */
export function verticalExtent(end: number, zero: number, height?: number): [number, number] {
  if (height !== undefined) return [Math.round(end > zero ? end - height : end), height];
  const upper = Math.round(Math.min(end, zero));
  return [upper, Math.max(Math.round(Math.max(end, zero)) - upper, 1)];
}

/**
 * Returns the left edge of a bar and its width, in whole pixels: its share of its bucket's room, at least one pixel.
 */
export function horizontalExtent(middle: number, room: number, { index, of }: Layer['slot']): [number, number] {
  const share = room / of;
  return [Math.round(middle - room / 2 + index * share), Math.max(Math.round(share), 1)];
}
