// The colours of the style sheet for the canvas, which knows no custom properties.
import type { Colour } from './series.ts';

export interface Theme {
  muted: string;
  grid: string;
  surface: string;
  colourOf: (colour: Colour) => string;
  font: string;
}

/** The custom property of a colour. */
export function colourName(colour: Colour): string {
  return typeof colour === 'number' ? `series-${colour + 1}` : colour;
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    muted: colour('muted'),
    grid: colour('line'),
    surface: colour('surface'),
    colourOf: (one) => colour(colourName(one)),
    font: `12px ${style.fontFamily}`,
  };
}

/** Calls when the system goes from light to dark or back, and when a dark page is printed. */
export function watchTheme(onChange: () => void): () => void {
  const dark = matchMedia('screen and (prefers-color-scheme: dark)');
  dark.addEventListener('change', onChange);
  return () => dark.removeEventListener('change', onChange);
}

/** A colour with some of another mixed in; opaque where both are, as stacked areas cover each other. */
export function mix(colour: string, other: string, share: number): string {
  return `color-mix(in srgb, ${colour}, ${other} ${share * 100}%)`;
}
