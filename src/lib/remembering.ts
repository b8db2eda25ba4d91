// A cache for results that are computed from the same few texts again and again. Pure.

/** Caches `make` by text. Holds up to `most` results and clears all of them when full; undefined is not cached. */
export function remembering<T>(most: number, make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) return known;
    const value = make(text);
    if (value === undefined) return value;
    if (made.size === most) made.clear();
    made.set(text, value);
    return value;
  };
}
