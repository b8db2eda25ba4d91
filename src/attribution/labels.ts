// Attribution tuples and their keys in dim_attribution. The key of a tuple never changes, so a key found once is
// cached, but only for one run of the database server: another server may lack the row.
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import type { Label } from './label.ts';
import { ensureLabels, findLabels, listLabels } from './label-queries.ts';

/** Bound of the cache, in characters of all names together. A single name may have thousands. */
const MAX_CACHED_CHARACTERS = 8_000_000;
/**
 * The least that a name counts for, so at most 50,000 are cached. With `max` instead, the cache would first fill arrays
 * of that length, which takes 20 ms.
 */
const MIN_NAME_CHARACTERS = 160;
const MAX_PRELOADED = 25_000;

export interface Labels {
  /** Caches the newest labels: otherwise nearly every group of posts after a start has to look one up. */
  preload(db: Kysely<DB>): Promise<void>;
  /** Returns the key of each label, in the same order; undefined for labels that no profile has had. */
  find(db: Kysely<DB>, labels: readonly Label[]): Promise<(number | undefined)[]>;
  /** Returns the key of each label, in the same order, writing new ones. */
  keysOf(db: Kysely<DB>, labels: readonly Label[]): Promise<number[]>;
}

/** Labels contain neither empty strings nor U+0000, so no two have the same name. */
function nameOf({ status, channel, campaign, ad_group, ad_set, creative, source }: Label): string {
  return `${status}\0${channel ?? ''}\0${campaign ?? ''}\0${ad_group ?? ''}\0${ad_set ?? ''}\0${creative ?? ''}\0${source}`;
}

function createCache(): LRUCache<string, number> {
  const sizeCalculation = (_: number, name: string) => Math.max(name.length, MIN_NAME_CHARACTERS);
  return new LRUCache({ maxSize: MAX_CACHED_CHARACTERS, sizeCalculation });
}

export function createLabels(serverRun: Deps['serverRun']): Labels {
  let current = { run: serverRun.number, keys: createCache() };

  /**
   * Returns the cache of this server run. A lookup still under way from an earlier run fills a cache that nobody reads
   * any more.
   */
  function currentCache(): LRUCache<string, number> {
    if (current.run !== serverRun.number) current = { run: serverRun.number, keys: createCache() };
    return current.keys;
  }

  async function preload(db: Kysely<DB>): Promise<void> {
    const cache = currentCache();
    for (const label of await listLabels(db, MAX_PRELOADED)) cache.set(nameOf(label), label.attribution_key);
  }

  async function find(db: Kysely<DB>, labels: readonly Label[]): Promise<(number | undefined)[]> {
    const cache = currentCache();
    const keys = labels.map((label) => cache.get(nameOf(label)));
    if (!keys.includes(undefined)) return keys;
    const unknown = labels.flatMap((label, index) => (keys[index] === undefined ? [{ label, index }] : []));
    const found = await findLabels(
      db,
      unknown.map(({ label }) => label),
    );
    for (const [place, { label, index }] of unknown.entries()) {
      const key = found[place] ?? undefined;
      keys[index] = key;
      if (key !== undefined) cache.set(nameOf(label), key);
    }
    return keys;
  }

  async function keysOf(db: Kysely<DB>, labels: readonly Label[]): Promise<number[]> {
    const cache = currentCache();
    const keys = await find(db, labels);
    if (!keys.includes(undefined)) return keys as number[];
    const missing = new Map(
      labels.flatMap((label, index) => (keys[index] === undefined ? [[nameOf(label), label]] : [])),
    );
    const made = await ensureLabels(db, [...missing.values()]);
    const keyOf = new Map([...missing.keys()].map((name, place) => [name, made[place] as number]));
    for (const [name, key] of keyOf) cache.set(name, key);
    return labels.map((label, index) => keys[index] ?? (keyOf.get(nameOf(label)) as number));
  }

  return { preload, find, keysOf };
}
