// Sums by segment and bucket that grow while groups of facts are scanned. Pure.

/** All at once: 128 MB. */
const MOST_NUMBERS = 16_000_000;
const MILLION = 1_000_000n;

/** What a question needs is too much to hold. */
export class TooMuch extends Error {}

/** Of several amounts by their code: the whole millions and the rest of each. Both stay exact when millions of them are summed. */
export type Amounts = readonly Float64Array[];

/** Of tuples of amounts in decimal, each times a factor. */
export function splitAmounts(tuples: readonly (readonly string[])[], factor: number): Amounts {
  const split = tuples.map((tuple) => tuple.flatMap((amount) => splitAmount(amount, factor)));
  return split[0]!.map((_, part) => Float64Array.from(split, (parts) => parts[part]!));
}

function splitAmount(text: string, factor: number): [millions: number, rest: number] {
  const amount = Number(text) * factor;
  if (Number.isSafeInteger(amount)) return [(amount - (amount % 1_000_000)) / 1_000_000, amount % 1_000_000];
  const exact = BigInt(text) * BigInt(factor);
  return [Number(exact / MILLION), Number(exact % MILLION)];
}

export interface BucketSums {
  /** From 0. */
  bucket: number;
  sums: bigint[];
}

export class ColumnSums {
  readonly #buckets: number;
  /** Of a segment, by its number and one: where its sums begin, and one; 0 if it has none. */
  readonly #places: Int32Array;
  /** Those that have any, in turn. */
  readonly #segments: number[] = [];
  /** How many facts, by segment and bucket. */
  #counts = new Float64Array(0);
  /** The sums of each amount, in two parts. */
  #parts: Float64Array[];

  constructor(buckets: number, amounts: number, segments: number) {
    this.#buckets = buckets;
    this.#places = new Int32Array(segments + 1);
    this.#parts = Array.from({ length: 2 * amounts }, () => new Float64Array(0));
  }

  /** Adds so many facts, with an amount of the table each. Throws TooMuch. */
  add(segment: number, bucket: number, facts: number, amounts: Amounts, code: number): void {
    const cell = this.#placeOf(segment) + bucket;
    this.#counts[cell]! += facts;
    for (let part = 0; part < amounts.length; part++) this.#parts[part]![cell]! += facts * amounts[part]![code]!;
  }

  /** Adds what so many facts sum up to, in decimal. Throws TooMuch. */
  addSums(segment: number, bucket: number, facts: number, sums: readonly string[]): void {
    const cell = this.#placeOf(segment) + bucket;
    this.#counts[cell]! += facts;
    for (const [i, sum] of sums.entries()) {
      const [millions, rest] = splitAmount(sum, 1);
      this.#parts[2 * i]![cell]! += millions;
      this.#parts[2 * i + 1]![cell]! += rest;
    }
  }

  /** The segments of which there is a fact in any bucket; of differences, of which any is open at its end. */
  listSeen(): number[] {
    return this.#segments.filter((segment) => this.#isSeen(segment));
  }

  /** All that a segment has of the first amount. */
  total(segment: number): bigint {
    const place = this.#places[segment + 1]! - 1;
    if (place < 0) return 0n;
    const sum = (part: number) => this.#parts[part]!.subarray(place, place + this.#buckets).reduce((a, b) => a + b, 0);
    return join(sum(0), sum(1));
  }

  /** What segments have together, of all by default; buckets of which there is nothing are left out. */
  sumUp(segments: readonly number[] = this.#segments): BucketSums[] {
    const counts = new Float64Array(this.#buckets);
    const parts = this.#parts.map(() => new Float64Array(this.#buckets));
    for (const segment of segments) {
      const place = this.#places[segment + 1]! - 1;
      if (place < 0) continue;
      for (let bucket = 0; bucket < this.#buckets; bucket++) {
        counts[bucket]! += this.#counts[place + bucket]!;
        for (let part = 0; part < parts.length; part++) parts[part]![bucket]! += this.#parts[part]![place + bucket]!;
      }
    }
    return Array.from(counts, (_, bucket) => ({
      bucket,
      sums: parts.flatMap((part, i) => (i % 2 === 0 ? [join(part[bucket]!, parts[i + 1]![bucket]!)] : [])),
    })).filter(({ bucket, sums }) => counts[bucket] !== 0 || sums.some((sum) => sum !== 0n));
  }

  #isSeen(segment: number): boolean {
    const place = this.#places[segment + 1]! - 1;
    let open = 0;
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      open += this.#counts[place + bucket]!;
      if (open !== 0) return true;
    }
    return false;
  }

  #placeOf(segment: number): number {
    const known = this.#places[segment + 1]!;
    if (known > 0) return known - 1;
    const place = this.#segments.length * this.#buckets;
    const needed = place + this.#buckets;
    if (needed > this.#counts.length) {
      const most = Math.floor(MOST_NUMBERS / (1 + this.#parts.length));
      if (needed > most) throw new TooMuch();
      const grow = (old: Float64Array) => {
        const grown = new Float64Array(Math.min(2 * needed, most));
        grown.set(old);
        return grown;
      };
      this.#counts = grow(this.#counts);
      this.#parts = this.#parts.map(grow);
    }
    this.#segments.push(segment);
    this.#places[segment + 1] = place + 1;
    return place;
  }
}

function join(millions: number, rest: number): bigint {
  return BigInt(millions) * MILLION + BigInt(rest);
}
