// Sums by key and bucket that grow while groups of facts are scanned. Pure.

/** All at once: 64 MB. */
const MOST_NUMBERS = 8_000_000;
const MILLION = 1_000_000n;

export class TooManySums extends Error {}

export interface SumRows {
  /** From 1. */
  buckets: number[];
  keys: (number | null)[];
  counts: number[];
  /** Per amount. */
  amounts: bigint[][];
}

export class ColumnSums {
  /** How many facts, by the place of the key and the bucket. */
  #counts: Float64Array;
  /** The sums of each amount, as whole millions and the rest. */
  #parts: Float64Array[];
  readonly #buckets: number;
  readonly #places = new Map<string, number>();

  constructor(buckets: number, amounts: number) {
    this.#buckets = buckets;
    this.#counts = new Float64Array(buckets);
    this.#parts = Array.from({ length: 2 * amounts }, () => new Float64Array(buckets));
  }

  /** The place of a key, '' for none; a new one may replace the arrays. Throws TooManySums. */
  placeOf(key: string): number {
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.#places.size;
    this.#places.set(key, place);
    const needed = (place + 1) * this.#buckets;
    if (needed <= this.#counts.length) return place;
    if (needed * (1 + this.#parts.length) > MOST_NUMBERS) throw new TooManySums();
    const grow = (old: Float64Array) => {
      const grown = new Float64Array(2 * needed);
      grown.set(old);
      return grown;
    };
    this.#counts = grow(this.#counts);
    this.#parts = this.#parts.map(grow);
    return place;
  }

  /** Adds facts, with an amount of the table `amounts` each. */
  add(place: number, bucket: number, facts: number, amounts: readonly Float64Array[], code: number): void {
    const cell = place * this.#buckets + bucket;
    this.#counts[cell]! += facts;
    for (let part = 0; part < amounts.length; part++) this.#parts[part]![cell]! += facts * amounts[part]![code]!;
  }

  /** The cells in which anything happened. */
  toRows(): SumRows {
    const amounts = this.#parts.filter((_, i) => i % 2 === 0).map((): bigint[] => []);
    const rows: SumRows = { buckets: [], keys: [], counts: [], amounts };
    for (const [key, place] of this.#places) {
      for (let bucket = 0; bucket < this.#buckets; bucket++) {
        const cell = place * this.#buckets + bucket;
        if (this.#counts[cell] === 0 && this.#parts.every((part) => part[cell] === 0)) continue;
        rows.buckets.push(bucket + 1);
        rows.keys.push(key === '' ? null : Number(key));
        rows.counts.push(this.#counts[cell]!);
        for (const [i, sums] of amounts.entries()) {
          sums.push(BigInt(this.#parts[2 * i]![cell]!) * MILLION + BigInt(this.#parts[2 * i + 1]![cell]!));
        }
      }
    }
    return rows;
  }
}
