// Finds keys for authentication. What was found, or not, is remembered for a moment shorter than the two seconds within which a
// revoked key must be refused (decisions.md 2) and a changed app be heeded.
import type { Kysely } from 'kysely';
import type { DB } from '../db/types.ts';
import type { Keyring, StoredKey } from '../http/auth.ts';
import { findKeyByPrefix } from './queries.ts';

const FRESH_MS = 1_500;
const MOST_REMEMBERED = 10_000;

interface Remembered {
  key: Promise<StoredKey | undefined>;
  until: number;
}

async function loadKey(db: Kysely<DB>, prefix: string): Promise<StoredKey | undefined> {
  const row = await findKeyByPrefix(db, prefix);
  if (!row) return undefined;
  const { key_id, kind, scope, sha256, ...app } = row;
  return { key_id, sha256, kind, scope, app };
}

export function createKeyring(db: Kysely<DB>): Keyring {
  const remembered = new Map<string, Remembered>();

  function forgetOldest(): void {
    const oldest = remembered.keys().next();
    if (!oldest.done) remembered.delete(oldest.value);
  }

  return {
    findKey(prefix) {
      const now = performance.now();
      const known = remembered.get(prefix);
      if (known && known.until > now) return known.key;
      const key = loadKey(db, prefix);
      key.catch(() => remembered.delete(prefix));
      remembered.delete(prefix);
      if (remembered.size >= MOST_REMEMBERED) forgetOldest();
      remembered.set(prefix, { key, until: now + FRESH_MS });
      return key;
    },
  };
}
