// Distinct payers by segment and bucket, counted while groups of facts are scanned. Pure.
import { PAGE } from '../facts/columns.ts';

/** All at once: 64 MB. */
const MOST_ENTRIES = 8_000_000;

export class TooManyPayers extends Error {}

/** Of the range, where `bucket` is null; of all segments, where `segment` is, and of all that have no series of their own if it is "other". */
export interface PayerRow {
  bucket: number | null;
  segment: number | 'other' | null;
  payers: number;
}

/** A set of whole numbers that are mostly close together. */
class NumberSet {
  size = 0;
  readonly #pages = new Map<number, Uint8Array>();

  add(number: number): void {
    const page = Math.floor(number / PAGE);
    const bits = this.#pages.get(page) ?? this.#makePage(page);
    const place = number % PAGE;
    const bit = 1 << (place & 7);
    if ((bits[place >> 3]! & bit) !== 0) return;
    bits[place >> 3]! |= bit;
    this.size++;
  }

  #makePage(page: number): Uint8Array {
    const bits = new Uint8Array(PAGE / 8);
    this.#pages.set(page, bits);
    return bits;
  }
}

export class PayerCounts {
  readonly #buckets: number;
  /** 0 where nothing is split. */
  readonly #segments: number;
  readonly #inRange = new NumberSet();
  readonly #inBucket: NumberSet[];
  /** Each once or more, as one number: profile, segment and bucket. */
  #entries = new Float64Array(1024);
  #count = 0;

  constructor(buckets: number, segments: number) {
    this.#buckets = buckets;
    this.#segments = segments;
    this.#inBucket = Array.from({ length: buckets }, () => new NumberSet());
  }

  /** Throws TooManyPayers. */
  add(profile: number, bucket: number, segment: number): void {
    this.#inRange.add(profile);
    this.#inBucket[bucket]!.add(profile);
    if (this.#segments === 0) return;
    if (this.#count === this.#entries.length) {
      if (this.#count >= MOST_ENTRIES) throw new TooManyPayers();
      const grown = new Float64Array(2 * this.#count);
      grown.set(this.#entries);
      this.#entries = grown;
    }
    const entry = (profile * this.#segments + segment) * this.#buckets + bucket;
    // Purchases of a profile mostly come together.
    if (this.#count === 0 || this.#entries[this.#count - 1] !== entry) this.#entries[this.#count++] = entry;
  }

  toRows(): PayerRow[] {
    return [...rowsOf(this.#inRange, this.#inBucket, null), ...this.#countSegments()];
  }

  /** Of the segments that have no series of their own, together. */
  countOthers(hasSeries: (segment: number) => boolean): PayerRow[] {
    const others = Array.from({ length: this.#segments }, (_, segment) => !hasSeries(segment));
    const inRange = new NumberSet();
    const inBucket = this.#inBucket.map(() => new NumberSet());
    for (const entry of this.#entries.subarray(0, this.#count)) {
      const pair = Math.floor(entry / this.#buckets);
      if (!others[pair % this.#segments]) continue;
      const profile = Math.floor(pair / this.#segments);
      inRange.add(profile);
      inBucket[entry % this.#buckets]!.add(profile);
    }
    return rowsOf(inRange, inBucket, 'other');
  }

  /** In order, all entries of a profile and segment stand together. */
  #countSegments(): PayerRow[] {
    const inRange = new Int32Array(this.#segments);
    const inBucket = new Int32Array(this.#segments * this.#buckets);
    const entries = this.#entries.subarray(0, this.#count).sort();
    let [last, lastPair] = [-1, -1];
    for (const entry of entries) {
      if (entry === last) continue;
      last = entry;
      const pair = Math.floor(entry / this.#buckets);
      const segment = pair % this.#segments;
      inBucket[segment * this.#buckets + (entry % this.#buckets)]!++;
      if (pair !== lastPair) inRange[segment]!++;
      lastPair = pair;
    }
    return [
      ...Array.from(inRange, (payers, segment) => ({ bucket: null, segment, payers })),
      ...Array.from(inBucket, (payers, i) => ({
        bucket: (i % this.#buckets) + 1,
        segment: Math.floor(i / this.#buckets),
        payers,
      })),
    ].filter(({ payers }) => payers > 0);
  }
}

function rowsOf(inRange: NumberSet, inBucket: readonly NumberSet[], segment: PayerRow['segment']): PayerRow[] {
  return [
    { bucket: null, segment, payers: inRange.size },
    ...inBucket.map(({ size }, bucket) => ({ bucket: bucket + 1, segment, payers: size })),
  ].filter(({ payers }) => payers > 0);
}
