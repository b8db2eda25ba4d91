// What is made of the same few texts again and again, made once. Pure.

/** Calls `make` once per text. Remembers up to `most` results, then forgets all of them; undefined is not remembered. */
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
