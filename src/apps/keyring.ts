// Finds keys for authentication. What was found, or not, is remembered for a moment shorter than the two seconds within which a
// revoked key must be refused (decisions.md 2) and a changed app be heeded.
import type { Kysely } from 'kysely';
import { groupCalls } from '../db/group.ts';
import type { DB } from '../db/types.ts';
import type { Keyring, StoredKey } from '../http/auth.ts';
import { listKeysByPrefix } from './queries.ts';

const FRESH_MS = 1_500;
const MOST_REMEMBERED = 10_000;
/** Whose key it is nobody knows yet. */
const LANE = 'keys';

interface Remembered {
  key: Promise<StoredKey | undefined>;
  until: number;
}

/** The key of each prefix, in the same order. */
async function loadKeys(db: Kysely<DB>, prefixes: readonly string[]): Promise<(StoredKey | undefined)[]> {
  const rows = await listKeysByPrefix(db, prefixes);
  const keys = new Map(
    rows.map(({ prefix, key_id, kind, scope, sha256, ...app }) => [prefix, { key_id, sha256, kind, scope, app }]),
  );
  return prefixes.map((prefix) => keys.get(prefix));
}

export function createKeyring(db: Kysely<DB>): Keyring {
  const remembered = new Map<string, Remembered>();
  /** Together: whoever makes up keys, each of which is looked up, would else keep those waiting who have one. */
  const loadKey = groupCalls((prefixes: readonly string[]) => loadKeys(db, prefixes));

  function forgetOldest(): void {
    const oldest = remembered.keys().next();
    if (!oldest.done) remembered.delete(oldest.value);
  }

  return {
    findKey(prefix) {
      const now = performance.now();
      const known = remembered.get(prefix);
      if (known && known.until > now) return known.key;
      const key = loadKey(LANE, prefix);
      key.catch(() => remembered.delete(prefix));
      remembered.delete(prefix);
      if (remembered.size >= MOST_REMEMBERED) forgetOldest();
      remembered.set(prefix, { key, until: now + FRESH_MS });
      return key;
    },
  };
}
