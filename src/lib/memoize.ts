// A cache for results that are computed from the same few texts again and again. Pure.

/** Caches `compute` by text. Holds up to `max` results and clears all of them when full; undefined is not cached. */
export function memoize<T>(max: number, compute: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const value = compute(text);
    if (value === undefined) return value;
    if (results.size === max) results.clear();
    results.set(text, value);
    return value;
  };
}
