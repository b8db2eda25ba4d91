// The colour of a series beside its name.

export function Swatch({ colour }: { colour: number | null | 'compared' }) {
  const name = colour === null ? 'total' : colour === 'compared' ? 'compared' : `series-${colour + 1}`;
  return <span class={`swatch ${name}`} aria-hidden="true" />;
}
