// The colour of a series beside its name.
import type { Colour } from './series.ts';
import { colourName } from './theme.ts';

export function Swatch({ colour }: { colour: Colour }) {
  return <span class={`swatch ${colourName(colour)}`} aria-hidden="true" />;
}
