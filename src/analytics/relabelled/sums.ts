// Sums remembered facts that count under another label than they carry: takes them off the label that they carry and
// adds them to the other. Pure.
import { momentCode } from '../../facts/totals-schema.ts';
import { AMOUNTS, type Condition, type Entries } from '../entries.ts';
import { joinMillions, MILLION } from '../millions.ts';
import { AMOUNTS_AT, FLAGS, FLAGS_AT, REMEMBERED_AMOUNTS, WIDTH } from './memory.ts';
import type { RelabelledProfile } from './profiles.ts';

/** Days in the app's zone. */
interface Days {
  /** The edges of the buckets. */
  edges: readonly number[];
  /** The first day on which nothing counts. */
  horizon: number;
}

/** The cells that do not cancel out, as parallel lists; buckets count from 1. */
export interface RelabelledSums {
  buckets: number[];
  keys: number[];
  facts: number[];
  amounts: bigint[][];
}

function bitsOf(names: readonly Condition[]): number {
  return FLAGS.reduce((bits, [name], bit) => (names.includes(name) ? bits | (1 << bit) : bits), 0);
}

/** Returns the bucket of each day, by the number of days since the first edge. */
function bucketsByDay(edges: readonly number[]): Uint32Array {
  const [first, end] = [edges[0]!, edges.at(-1)!];
  const buckets = new Uint32Array(end - first);
  for (let bucket = 1; bucket < edges.length; bucket++)
    buckets.fill(bucket, edges[bucket - 1]! - first, edges[bucket]! - first);
  return buckets;
}

/** Cells that are added to. Each has the count of facts, then the whole millions and the rest of each amount. */
class RelabelledCells {
  readonly #places = new Map<number, number>();
  readonly #width: number;
  #numbers = new Float64Array(1024);

  constructor(amounts: number) {
    this.#width = 1 + 2 * amounts;
  }

  // biome-ignore lint/complexity/useMaxParams: called for every fact; an object for each would be its garbage.
  add(cell: number, sign: number, facts: Float64Array, amountsAt: number): void {
    let place = this.#places.get(cell);
    if (place === undefined) {
      place = this.#places.size * this.#width;
      this.#places.set(cell, place);
      if (place + this.#width > this.#numbers.length) this.#grow();
    }
    const numbers = this.#numbers;
    numbers[place]! += sign;
    for (let k = 1; k < this.#width; k += 2) {
      const amount = facts[amountsAt + (k >> 1)]!;
      const rest = amount % MILLION;
      numbers[place + k]! += (sign * (amount - rest)) / MILLION;
      numbers[place + k + 1]! += sign * rest;
    }
  }

  *each(): Generator<[cell: number, numbers: Float64Array]> {
    for (const [cell, place] of this.#places) {
      const numbers = this.#numbers.subarray(place, place + this.#width);
      if (numbers.some((number) => number !== 0)) yield [cell, numbers];
    }
  }

  #grow(): void {
    const grown = new Float64Array(2 * this.#numbers.length);
    grown.set(this.#numbers);
    this.#numbers = grown;
  }
}

/** Sums what the facts of profiles move from one key to another. */
export function sumRelabelled(
  profiles: readonly RelabelledProfile[],
  { at, until, where, amount }: Entries,
  { edges, horizon, by }: Days & { by: 'totalKeys' | 'labelKeys' },
): RelabelledSums {
  const names = AMOUNTS[amount];
  const cells = new RelabelledCells(names.length);
  const amountsAt = names.length > 0 ? AMOUNTS_AT + REMEMBERED_AMOUNTS.indexOf(names[0]!) : 0;
  const bits = bitsOf(where);
  const [opens, closes] = [momentCode(at), until ? momentCode(until) : -1];
  const buckets = bucketsByDay(edges);
  const [first, end] = [edges[0]!, Math.min(edges.at(-1)!, horizon)];
  for (const profile of profiles) {
    const { facts } = profile;
    const { earlier, later } = profile[by];
    const [from, to] = [earlier * edges.length, later * edges.length];
    const count = (day: number, sign: number, fact: number) => {
      const isBefore = day < first;
      // A missing day is NaN, which is not less than anything.
      if (!(day < end) || (isBefore && closes < 0)) return;
      const bucket = isBefore ? 1 : buckets[day - first]!;
      cells.add(from + bucket, -sign, facts, fact + amountsAt);
      cells.add(to + bucket, sign, facts, fact + amountsAt);
    };
    for (let fact = 0; fact < facts.length; fact += WIDTH) {
      if ((facts[fact + FLAGS_AT]! & bits) !== bits) continue;
      // A fact that closed before the first day had opened before it, too, so it changes nothing.
      if (closes >= 0 && facts[fact + closes]! < Math.min(first, horizon)) continue;
      count(facts[fact + opens]!, 1, fact);
      if (closes >= 0) count(facts[fact + closes]!, -1, fact);
    }
  }
  const sums: RelabelledSums = { buckets: [], keys: [], facts: [], amounts: names.map(() => []) };
  for (const [cell, numbers] of cells.each()) {
    sums.buckets.push(cell % edges.length);
    sums.keys.push(Math.floor(cell / edges.length));
    sums.facts.push(numbers[0]!);
    for (const [i, list] of sums.amounts.entries()) list.push(joinMillions(numbers[1 + 2 * i]!, numbers[2 + 2 * i]!));
  }
  return sums;
}
