// Finds keys for authentication. Results, misses included, are cached for a little less than the two seconds within
// which a revoked key must be refused (decisions.md 2) and a changed app must take effect.
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { groupCalls } from '../db/group.ts';
import type { DB } from '../db/types.ts';
import type { Keyring, StoredKey } from '../http/auth.ts';
import { listKeysByPrefix } from './queries.ts';

const CACHE_MS = 1_500;
const MAX_CACHED_KEYS = 10_000;
/** One lane for all: nobody knows yet whose key it is. */
const LANE = 'keys';

/** Returns the key of each prefix, in the same order. */
async function loadKeys(db: Kysely<DB>, prefixes: readonly string[]): Promise<(StoredKey | undefined)[]> {
  const rows = await listKeysByPrefix(db, prefixes);
  const keys = new Map(
    rows.map(({ prefix, key_id, kind, scope, sha256, ...app }) => [prefix, { key_id, sha256, kind, scope, app }]),
  );
  return prefixes.map((prefix) => keys.get(prefix));
}

export function createKeyring(db: Kysely<DB>): Keyring {
  const cache = new LRUCache<string, Promise<StoredKey | undefined>>({ max: MAX_CACHED_KEYS, ttl: CACHE_MS });
  /** In groups: otherwise requests with made-up keys, each of which is looked up, would delay those with real ones. */
  const loadKey = groupCalls((prefixes: readonly string[]) => loadKeys(db, prefixes));

  return {
    findKey(prefix) {
      const known = cache.get(prefix);
      if (known) return known;
      const key = loadKey(LANE, prefix);
      key.catch(() => cache.delete(prefix));
      cache.set(prefix, key);
      return key;
    },
  };
}
