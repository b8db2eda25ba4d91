// Distinct payers by segment and bucket, counted while groups of facts are scanned: every profile has a list of its segments, each with a
// bit per bucket. Pure.
import { CODE_OFFSET } from '../facts/column-chunk.ts';
import { PAGE } from '../facts/columns.ts';
import { type Numbers, rows } from './column-rows.ts';
import { TooMuch } from './column-sums.ts';

/** All at once: 128 MB. */
const MOST_NUMBERS = 32_000_000;

/** The list of a profile whose purchases are added and taken off one by one. */
const APART = -1;

/** Rows of a group: pages as the places where they begin, places as their characters. */
interface PayerRows {
  count: number;
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
  /** Of an entry: its segment, the next of the profile, and as many words of bits. */
  readonly #words: number;
  readonly #places = new Map<number, number>();
  /** By the place of a profile: its first entry, 0 for none. */
  #heads = new Int32Array(0);
  #entries: Int32Array;
  #end: number;
  /** By place: how many purchases there are, by segment and bucket. */
  readonly #apart = new Map<number, Map<number, number>>();
  readonly #payers = new Map<number, number>();

  constructor(buckets: number) {
    this.#buckets = buckets;
    this.#words = Math.ceil(buckets / 32);
    // None is the entry 0.
    this.#end = 2 + this.#words;
    this.#entries = new Int32Array(64 * this.#end);
  }

  /** Where the profiles of a page have their places, in turn. Throws TooMuch. */
  placeOfPage(page: number): number {
    const known = this.#places.get(page);
    if (known !== undefined) return known;
    const place = this.#places.size * PAGE;
    this.#places.set(page, place);
    if (place + PAGE > this.#heads.length) this.#heads = this.#grow(this.#heads, this.#entries.length);
    return place;
  }

  placeOf(profile: number): number {
    return this.placeOfPage(Math.floor(profile / PAGE)) + (profile % PAGE);
  }

  /** From now on the purchases of this profile are counted, until `finish`. */
  setApart(profile: number): void {
    const place = this.placeOf(profile);
    this.#heads[place] = APART;
    this.#apart.set(place, new Map());
  }

  /** Adds purchases of the profile at a place, or takes them off if it is apart. Throws TooMuch. */
  add(place: number, bucket: number, segment: number, purchases: number): void {
    const head = this.#heads[place]!;
    if (head === APART) {
      const counts = this.#apart.get(place)!;
      const cell = (segment + 1) * this.#buckets + bucket;
      counts.set(cell, (counts.get(cell) ?? 0) + purchases);
      return;
    }
    let entry = head;
    while (entry !== 0 && this.#entries[entry] !== segment) entry = this.#entries[entry + 1]!;
    if (entry === 0) entry = this.#begin(place, segment);
    this.#entries[entry + 2 + (bucket >> 5)]! |= 1 << (bucket & 31);
  }

  /** Adds the selected rows of a group. Throws TooMuch. */
  addRows({ count, pages, places, buckets, segments, signs }: PayerRows): void {
    const numberOf = ({ codes, numbers }: Numbers, row: number) =>
      numbers.length === 1 ? numbers[0]! : numbers[codes[row]! - CODE_OFFSET]!;
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      const place = numberOf(pages, row) + places[row]! - CODE_OFFSET;
      this.add(place, numberOf(buckets, row), numberOf(segments, row), numberOf(signs, row));
    }
  }

  finish(): void {
    for (const [place, counts] of this.#apart) {
      this.#heads[place] = 0;
      for (const [cell, purchases] of counts) {
        const segment = Math.floor(cell / this.#buckets) - 1;
        if (purchases > 0) this.add(place, cell % this.#buckets, segment, 1);
      }
    }
    this.#apart.clear();
  }

  /** How many have bought something of a segment. */
  payersOf(segment: number): number {
    return this.#payers.get(segment) ?? 0;
  }

  /** Of all, of each of these segments, and of the others together. */
  count(segments: readonly number[]): { all: PayerCount; each: PayerCount[]; others: PayerCount } {
    const counters = [...segments, 'all', 'others'].map(() => new BitCounter(this.#buckets));
    const [all, others] = counters.slice(-2) as [BitCounter, BitCounter];
    const own = new Map(segments.map((segment, i) => [segment, counters[i]!]));
    const entries = this.#entries;
    for (let place = 0; place < this.#heads.length; place++) {
      const head = this.#heads[place]!;
      if (head === 0) continue;
      // Most profiles have one segment.
      if (entries[head + 1] === 0) {
        all.add(entries, head + 2);
        (own.get(entries[head]!) ?? others).add(entries, head + 2);
        continue;
      }
      for (let entry = head; entry !== 0; entry = entries[entry + 1]!) {
        all.merge(entries, entry + 2);
        const counter = own.get(entries[entry]!);
        if (counter) counter.add(entries, entry + 2);
        else others.merge(entries, entry + 2);
      }
      all.addMerged();
      others.addMerged();
    }
    return { all, each: counters.slice(0, -2), others };
  }

  #begin(place: number, segment: number): number {
    const entry = this.#end;
    this.#end += 2 + this.#words;
    if (this.#end > this.#entries.length) this.#entries = this.#grow(this.#entries, this.#heads.length);
    this.#entries[entry] = segment;
    this.#entries[entry + 1] = this.#heads[place]!;
    this.#heads[place] = entry;
    this.#payers.set(segment, this.payersOf(segment) + 1);
    return entry;
  }

  #grow(old: Int32Array, others: number): Int32Array<ArrayBuffer> {
    const grown = new Int32Array(Math.max(PAGE, 2 * old.length));
    if (grown.length + others > MOST_NUMBERS) throw new TooMuch();
    grown.set(old);
    return grown;
  }
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

  /** Adds a profile with bits. */
  add(words: Int32Array, from: number): void {
    let any = 0;
    for (let i = 0; i < this.#merged.length; i++) {
      any |= words[from + i]!;
      for (let bits = words[from + i]!; bits !== 0; bits &= bits - 1) {
        this.buckets[32 * i + 31 - Math.clz32(bits & -bits)]!++;
      }
    }
    if (any !== 0) this.range++;
  }

  /** Adds bits to those that will be added as one profile. */
  merge(words: Int32Array, from: number): void {
    for (let i = 0; i < this.#merged.length; i++) this.#merged[i]! |= words[from + i]!;
  }

  addMerged(): void {
    this.add(this.#merged, 0);
    this.#merged.fill(0);
  }
}
