// Sums by segment and bucket that grow while groups of facts are scanned. Pure.
import { joinMillions, splitAmount } from '../millions.ts';

/** The most numbers held for the entries of one span of a query, or for its installs: 128 MB. */
const MAX_NUMBERS = 16_000_000;

/** Thrown when a query needs more than the process may hold. */
export class TooMuchToHold extends Error {}

/** Tuples of amounts, in the order of their codes. Each amount takes two numbers: its whole millions and the rest. */
export type Amounts = Float64Array;

/** Splits tuples of decimal amounts, each multiplied by a factor. */
export function splitAmounts(tuples: readonly (readonly string[])[], factor: number): Amounts {
  const width = 2 * (tuples[0]?.length ?? 0);
  const amounts = new Float64Array(tuples.length * width);
  for (const [code, tuple] of tuples.entries()) {
    for (const [i, amount] of tuple.entries()) amounts.set(splitAmount(amount, factor), code * width + 2 * i);
  }
  return amounts;
}

export interface BucketSums {
  /** From 0. */
  bucket: number;
  sums: bigint[];
}

export class ColumnSums {
  readonly #buckets: number;
  /** By the number of a segment + 1, as NO_SEGMENT is -1: the place where its cells begin, + 1; 0 if it has none. */
  readonly #places: Int32Array;
  /** The segments that have cells, in the order in which they got them. */
  readonly #segments: number[] = [];
  /**
   * How many numbers a cell has: the count of facts, then the sum of each amount in two parts. They lie side by side
   * because they are added to together.
   */
  readonly #size: number;
  /** Has room for all segments from the start: memory is taken only as it is written to. */
  readonly #cells: Float64Array;

  constructor(buckets: number, amounts: number, segments: number) {
    this.#buckets = buckets;
    this.#places = new Int32Array(segments + 1);
    this.#size = 1 + 2 * amounts;
    this.#cells = new Float64Array(Math.min((segments + 1) * buckets * this.#size, MAX_NUMBERS));
  }

  /** Adds this many facts, each with the amounts that have this code. Throws TooMuchToHold. */
  // biome-ignore lint/complexity/useMaxParams: called for every combination of a scan; an object for each would be its garbage.
  add(segment: number, bucket: number, facts: number, amounts: Amounts, code: number): void {
    const cell = this.#cellOf(segment, bucket);
    const cells = this.#cells;
    const parts = this.#size - 1;
    cells[cell]! += facts;
    for (let part = 0; part < parts; part++) cells[cell + 1 + part]! += facts * amounts[code * parts + part]!;
  }

  /** Adds this many facts by their sums, in decimal. Throws TooMuchToHold. */
  addSums(segment: number, bucket: number, { facts, sums }: { facts: number; sums: readonly string[] }): void {
    const cell = this.#cellOf(segment, bucket);
    this.#cells[cell]! += facts;
    for (const [i, sum] of sums.entries()) {
      const [millions, rest] = splitAmount(sum, 1);
      this.#cells[cell + 1 + 2 * i]! += millions;
      this.#cells[cell + 2 + 2 * i]! += rest;
    }
  }

  /**
   * Lists the segments with a fact in any bucket or, if cells hold the differences of a stock, with a fact open at
   * the end of any bucket.
   */
  listSeen(): number[] {
    return this.#segments.filter((segment) => this.#isSeen(segment));
  }

  /** Returns the sum of a segment's first amount over all buckets. */
  total(segment: number): bigint {
    let [millions, rest] = [0, 0];
    const { from, to } = this.#extentOf(segment);
    for (let cell = from; cell < to; cell += this.#size) {
      millions += this.#cells[cell + 1]!;
      rest += this.#cells[cell + 2]!;
    }
    return joinMillions(millions, rest);
  }

  /** Returns the sums of segments together, by default of all. Buckets with nothing in them are left out. */
  sumUp(segments: readonly number[] = this.#segments): BucketSums[] {
    const summed = new Float64Array(this.#buckets * this.#size);
    for (const segment of segments) {
      const { from, to } = this.#extentOf(segment);
      for (let i = from; i < to; i++) summed[i - from]! += this.#cells[i]!;
    }
    const found: BucketSums[] = [];
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      const cell = bucket * this.#size;
      let end = cell + this.#size;
      while (end > cell && summed[end - 1] === 0) end--;
      if (end === cell) continue;
      const sums: bigint[] = [];
      for (let i = cell + 1; i < cell + this.#size; i += 2) sums.push(joinMillions(summed[i]!, summed[i + 1]!));
      found.push({ bucket, sums });
    }
    return found;
  }

  #isSeen(segment: number): boolean {
    let open = 0;
    const { from, to } = this.#extentOf(segment);
    for (let cell = from; cell < to; cell += this.#size) {
      open += this.#cells[cell]!;
      if (open !== 0) return true;
    }
    return false;
  }

  /** Returns where the numbers of a segment are: an empty range if it has none. */
  #extentOf(segment: number): { from: number; to: number } {
    const place = this.#places[segment + 1]!;
    return place === 0 ? { from: 0, to: 0 } : { from: place - 1, to: place - 1 + this.#buckets * this.#size };
  }

  #cellOf(segment: number, bucket: number): number {
    const place = this.#places[segment + 1]!;
    return (place > 0 ? place - 1 : this.#begin(segment)) + bucket * this.#size;
  }

  #begin(segment: number): number {
    const place = this.#segments.length * this.#buckets * this.#size;
    if (place + this.#buckets * this.#size > this.#cells.length) throw new TooMuchToHold();
    this.#segments.push(segment);
    this.#places[segment + 1] = place + 1;
    return place;
  }
}
