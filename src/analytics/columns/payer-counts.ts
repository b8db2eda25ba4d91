// Counts distinct payers by segment and bucket while groups of facts are scanned. Each profile has a list of its
// segments, and each of these has one bit per bucket. Pure.
import { CODE_OFFSET, PAGE_SIZE } from '../../facts/column-chunk.ts';
import type { Numbers } from './group-rows.ts';
import { TooMuchToHold } from './sums.ts';

/** The most numbers held for one span of a query: 128 MB. */
const MAX_NUMBERS = 32_000_000;

/**
 * An entry is a row of numbers: its tag, which is its segment as a number above 0; where the profile's next entry is;
 * and, from here on, its bits.
 */
const BITS_AT = 2;
const tagOf = (segment: number) => segment + 2;
/** The tag of a profile that is set apart: its purchases are added and taken off one by one. */
const APART = -1;

/** Rows of a group. `pages` gives the place where a page begins; `places` has the characters of places on the page. */
interface PayerRows {
  selected: Int32Array;
  pages: Numbers;
  places: Uint16Array;
  buckets: Numbers;
  segments: Numbers;
  signs: Numbers;
}

export interface PayerCount {
  range: number;
  /** From 0. */
  buckets: Int32Array;
}

export class PayerCounts {
  readonly #buckets: number;
  /** How many numbers an entry has. */
  readonly #size: number;
  readonly #places = new Map<number, number>();
  /** The first entry of each profile, by its place, so that most purchases read and write a single place in memory. */
  #firsts = new Int32Array(0);
  /** All other entries. None begins at 0, which stands for no entry. */
  #more: Int32Array;
  #end: number;
  /** How many purchases each profile that is set apart has, by its place, then by segment and bucket. */
  readonly #apart = new Map<number, Map<number, number>>();
  /** How many profiles have an entry of a segment, by the number of the segment + 1. */
  readonly #payers: Int32Array;

  constructor(buckets: number, segments: number) {
    this.#buckets = buckets;
    this.#size = BITS_AT + Math.ceil(buckets / 32);
    this.#more = new Int32Array(PAGE_SIZE);
    this.#end = this.#size;
    this.#payers = new Int32Array(segments + 1);
  }

  /** Returns the place of the first profile of a page; the others follow it in order. Throws TooMuchToHold. */
  placeOfPage(page: number): number {
    const known = this.#places.get(page);
    if (known !== undefined) return known;
    const place = this.#places.size * PAGE_SIZE;
    this.#places.set(page, place);
    if ((place + PAGE_SIZE) * this.#size > this.#firsts.length)
      this.#firsts = grow(this.#firsts, this.#size, this.#more);
    return place;
  }

  placeOf(profile: number): number {
    return this.placeOfPage(Math.floor(profile / PAGE_SIZE)) + (profile % PAGE_SIZE);
  }

  /** Has the purchases of this profile counted one by one, from now until `finish`. */
  setApart(profile: number): void {
    const place = this.placeOf(profile);
    this.#firsts[place * this.#size] = APART;
    this.#apart.set(place, new Map());
  }

  /**
   * Adds purchases of the profile at a place. If it is set apart, a negative number takes them off. Throws
   * TooMuchToHold.
   */
  // biome-ignore lint/complexity/useMaxParams: called for every row of a scan; an object for each would be its garbage.
  add(place: number, bucket: number, segment: number, purchases: number): void {
    const first = place * this.#size;
    const tag = this.#firsts[first]!;
    if (tag === APART) this.#addApart(place, (segment + 1) * this.#buckets + bucket, purchases);
    else if (tag !== 0 && tag !== tagOf(segment)) this.#addMore(first, bucket, segment);
    else {
      if (tag === 0) this.#begin(this.#firsts, first, segment);
      mark(this.#firsts, first, bucket);
    }
  }

  /** Adds the selected rows of a group. Throws TooMuchToHold. */
  addRows({ selected, pages, places, buckets, segments, signs }: PayerRows): void {
    const numberOf = ({ codes, numbers }: Numbers, row: number) => numbers[codes[row]! - CODE_OFFSET]!;
    for (let i = 0; i < selected.length; i++) {
      const row = selected[i]!;
      const place = numberOf(pages, row) + places[row]! - CODE_OFFSET;
      this.add(place, numberOf(buckets, row), numberOf(segments, row), numberOf(signs, row));
    }
  }

  finish(): void {
    for (const [place, counts] of this.#apart) {
      this.#firsts[place * this.#size] = 0;
      for (const [cell, purchases] of counts) {
        const segment = Math.floor(cell / this.#buckets) - 1;
        if (purchases > 0) this.add(place, cell % this.#buckets, segment, 1);
      }
    }
    this.#apart.clear();
  }

  /** Returns how many profiles have bought something of a segment. */
  payersOf(segment: number): number {
    return this.#payers[segment + 1]!;
  }

  /** Counts the payers of all segments, of each of these, and of the others together. */
  count(segments: readonly number[]): { all: PayerCount; each: PayerCount[]; others: PayerCount } {
    const newCounter = () => new BitCounter(this.#buckets);
    const [all, others, each] = [newCounter(), newCounter(), segments.map(newCounter)];
    const counters = new Array<BitCounter>(this.#payers.length).fill(others);
    for (const [i, segment] of segments.entries()) counters[segment + 1] = each[i]!;
    for (let first = 0; first < this.#firsts.length; first += this.#size) {
      const tag = this.#firsts[first]!;
      if (tag === 0) continue;
      all.merge(this.#firsts, first);
      counters[tag - 1]!.merge(this.#firsts, first);
      if (counters[tag - 1] !== others) counters[tag - 1]!.addMerged();
      for (let entry = this.#firsts[first + 1]!; entry !== 0; entry = this.#more[entry + 1]!) {
        const counter = counters[this.#more[entry]! - 1]!;
        all.merge(this.#more, entry);
        counter.merge(this.#more, entry);
        if (counter !== others) counter.addMerged();
      }
      all.addMerged();
      others.addMerged();
    }
    return { all, each, others };
  }

  #addApart(place: number, cell: number, purchases: number): void {
    const counts = this.#apart.get(place)!;
    counts.set(cell, (counts.get(cell) ?? 0) + purchases);
  }

  #addMore(first: number, bucket: number, segment: number): void {
    const tag = tagOf(segment);
    let entry = this.#firsts[first + 1]!;
    while (entry !== 0 && this.#more[entry] !== tag) entry = this.#more[entry + 1]!;
    if (entry === 0) {
      entry = this.#end;
      this.#end += this.#size;
      if (this.#end > this.#more.length) this.#more = grow(this.#more, 1, this.#firsts);
      this.#begin(this.#more, entry, segment);
      this.#more[entry + 1] = this.#firsts[first + 1]!;
      this.#firsts[first + 1] = entry;
    }
    mark(this.#more, entry, bucket);
  }

  #begin(entries: Int32Array, entry: number, segment: number): void {
    entries[entry] = tagOf(segment);
    this.#payers[segment + 1]!++;
  }
}

function mark(entries: Int32Array, entry: number, bucket: number): void {
  entries[entry + BITS_AT + (bucket >> 5)]! |= 1 << (bucket & 31);
}

function grow(old: Int32Array, size: number, others: Int32Array): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(Math.max(PAGE_SIZE * size, 2 * old.length));
  if (grown.length + others.length > MAX_NUMBERS) throw new TooMuchToHold();
  grown.set(old);
  return grown;
}

/** Counts profiles by the bits of their buckets. */
class BitCounter implements PayerCount {
  range = 0;
  readonly buckets: Int32Array;
  readonly #merged: Int32Array;

  constructor(buckets: number) {
    this.buckets = new Int32Array(buckets);
    this.#merged = new Int32Array(Math.ceil(buckets / 32));
  }

  /** Adds the bits of an entry to those of the profile that is being counted. */
  merge(entries: Int32Array, entry: number): void {
    for (let i = 0; i < this.#merged.length; i++) this.#merged[i]! |= entries[entry + BITS_AT + i]!;
  }

  /** Counts that profile, if it has any bits, and clears them for the next. */
  addMerged(): void {
    const { buckets } = this;
    let any = 0;
    for (let i = 0; i < this.#merged.length; i++) {
      const merged = this.#merged[i]!;
      for (let bits = merged; bits !== 0; bits &= bits - 1) buckets[32 * i + 31 - Math.clz32(bits & -bits)]!++;
      any |= merged;
      this.#merged[i] = 0;
    }
    if (any !== 0) this.range++;
  }
}
