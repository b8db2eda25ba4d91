// Remembers, from one query to the next, the values that labels have for each attribute, as numbers. The values of a
// label never change.
import { type Kysely, sql } from 'kysely';
import { jsonList, listText } from '../../db/lists.ts';
import type { DB } from '../../db/types.ts';
import { LABEL_HOMES } from '../../facts/totals-schema.ts';

/** The attributes whose values have a key in totals, and those whose values can only be distinguished by their text. */
const KEYS = LABEL_HOMES.filter((home) => home !== 'attribution_key');
const TEXTS = ['ad_group', 'ad_set', 'creative'] as const;

/** Labels with keys from here on are not remembered. All others take 7 MB. */
const KEYS_END = 250_000;
/** For all attributes together. Once there are more, no more labels are learned. */
const MAX_DIGESTS = 180_000;
/** The most labels that are read for one query; the rest are left to the next. */
const MAX_READ = 20_000;

/** A digest stands for each text: it may have thousands of characters, and anybody with a public key can write one. */
const DIGESTS = TEXTS.map(
  (name) => sql`encode(sha256(convert_to(coalesce(${sql.ref(name)}, ''), 'UTF8')), 'base64') as ${sql.ref(name)}`,
);

/**
 * The values of an attribute, by the key of the label: each as the key under which totals have it or, if they have
 * none, as a number of its own; 0 if it is not known yet.
 */
export type ValueNumbers = Int32Array;

type ReadLabels = Record<(typeof KEYS)[number] | 'keys', number[]> & Record<(typeof TEXTS)[number], string[]>;

export class LabelMemory {
  #known = new Uint8Array(1024);
  readonly #numbers = new Map<string, ValueNumbers>([...KEYS, ...TEXTS].map((name) => [name, new Int32Array(1024)]));
  #count = 0;
  readonly #digests = new Map<string, Map<string, number>>(TEXTS.map((name) => [name, new Map()]));

  isKnown(key: number): boolean {
    return this.#known[key] === 1;
  }

  /** Returns the values of an attribute: `status_key`, `ad_set`, … */
  numbersOf(attribute: string): ValueNumbers {
    return this.#numbers.get(attribute)!;
  }

  /** Reads those of these labels that are not known yet, within the limits above. */
  async learn(db: Kysely<DB>, keys: Iterable<number>): Promise<void> {
    const unknown = new Set<number>();
    for (const key of keys) {
      if (unknown.size < MAX_READ && key < KEYS_END && !this.isKnown(key)) unknown.add(key);
    }
    if (unknown.size === 0 || this.#count > MAX_DIGESTS) return;
    const { rows } = await sql<ReadLabels>`
      select ${jsonList('attribution_key', 'keys')}, ${sql.join([...KEYS, ...TEXTS].map((name) => jsonList(name)))}
      from (
        select attribution_key, ${sql.join(KEYS.map((name) => sql.ref(name)))}, ${sql.join(DIGESTS)}
        from dim_attribution where attribution_key = any(${listText(unknown)}::integer[])
      ) l`.execute(db);
    const read = rows[0]!;
    this.#growTo(read.keys.reduce((most, key) => Math.max(most, key), 0));
    for (const name of KEYS) {
      const numbers = this.numbersOf(name);
      for (const [i, key] of read.keys.entries()) numbers[key] = read[name][i]!;
    }
    for (const name of TEXTS) {
      const numbers = this.numbersOf(name);
      for (const [i, key] of read.keys.entries()) numbers[key] = this.#numberOf(name, read[name][i]!);
    }
    for (const key of read.keys) this.#known[key] = 1;
  }

  #numberOf(name: string, digest: string): number {
    const digests = this.#digests.get(name)!;
    const known = digests.get(digest);
    if (known !== undefined) return known;
    digests.set(digest, digests.size + 1);
    this.#count++;
    return digests.size;
  }

  #growTo(key: number): void {
    if (key < this.#known.length) return;
    const size = Math.min(2 ** Math.ceil(Math.log2(key + 1)), KEYS_END);
    const known = new Uint8Array(size);
    known.set(this.#known);
    this.#known = known;
    for (const [name, numbers] of this.#numbers) {
      const grown = new Int32Array(size);
      grown.set(numbers);
      this.#numbers.set(name, grown);
    }
  }
}
