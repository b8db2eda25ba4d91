// Sums by key and bucket that grow while groups of facts are scanned. Pure.

/** What one key may be: at most so many cells, of up to seven numbers each, are held at once. */
const MOST_CELLS = 1_000_000;

export class TooManyCells extends Error {}

export interface SumRows {
  buckets: number[];
  keys: (number | null)[];
  counts: number[];
  /** Per amount. */
  amounts: bigint[][];
}

/** Amounts come and are kept as whole millions and the rest. */
export class ColumnSums {
  readonly #buckets: number;
  readonly #keys = new Map<string, number>();
  #counts: Float64Array;
  #parts: Float64Array[];

  constructor(buckets: number, width: number) {
    this.#buckets = buckets;
    this.#counts = new Float64Array(buckets);
    this.#parts = Array.from({ length: 2 * width }, () => new Float64Array(buckets));
  }

  /** Throws TooManyCells. */
  indexOf(key: string): number {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const index = this.#keys.size;
    const needed = (index + 1) * this.#buckets;
    if (needed > MOST_CELLS) throw new TooManyCells();
    if (needed > this.#counts.length) {
      const grow = (old: Float64Array) => {
        const grown = new Float64Array(Math.max(needed, 2 * old.length));
        grown.set(old);
        return grown;
      };
      this.#counts = grow(this.#counts);
      this.#parts = this.#parts.map(grow);
    }
    this.#keys.set(key, index);
    return index;
  }

  add(key: number, bucket: number, sign: number, amounts: readonly Float64Array[] | undefined, code: number): void {
    const cell = key * this.#buckets + bucket;
    this.#counts[cell]! += sign;
    if (!amounts) return;
    for (let i = 0; i < amounts.length; i++) this.#parts[i]![cell]! += sign * amounts[i]![code]!;
  }

  /** The cells in which anything happened; buckets count from 1, the key '' is none. */
  toRows(): SumRows {
    const rows: SumRows = {
      buckets: [],
      keys: [],
      counts: [],
      amounts: this.#parts.filter((_, i) => i % 2 === 0).map(() => []),
    };
    for (const [key, index] of this.#keys) {
      for (let bucket = 0; bucket < this.#buckets; bucket++) {
        const cell = index * this.#buckets + bucket;
        if (this.#counts[cell] === 0 && this.#parts.every((part) => part[cell] === 0)) continue;
        rows.buckets.push(bucket + 1);
        rows.keys.push(key === '' ? null : Number(key));
        rows.counts.push(this.#counts[cell]!);
        for (const [i, amounts] of rows.amounts.entries()) {
          amounts.push(BigInt(this.#parts[2 * i]![cell]!) * 1_000_000n + BigInt(this.#parts[2 * i + 1]![cell]!));
        }
      }
    }
    return rows;
  }
}
