// Memoization, for results computed from the same few texts again and again. Pure.

/** Memoizes `make`. Keeps up to `most` results and clears them all when full; undefined is not kept. */
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
