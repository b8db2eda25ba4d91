// Reads the colours of the style sheet for the canvas, which does not know custom properties.
import type { Colour } from './series.ts';

export interface Theme {
  muted: string;
  grid: string;
  surface: string;
  colourOf: (colour: Colour) => string;
  font: string;
}

/** Returns the name of the custom property that holds a colour. */
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

/**
 * Calls `onChange` when the system turns dark or light and when a dark page is printed. Returns a function to stop it.
 */
export function watchTheme(onChange: () => void): () => void {
  const dark = matchMedia('screen and (prefers-color-scheme: dark)');
  dark.addEventListener('change', onChange);
  return () => dark.removeEventListener('change', onChange);
}

/** Mixes a share of another colour into a colour: opaque if both are, because stacked areas cover each other. */
export function mix(colour: string, other: string, share: number): string {
  return `color-mix(in srgb, ${colour}, ${other} ${share * 100}%)`;
}
