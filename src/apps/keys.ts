// The form of keys (decisions.md 2): kind, 8 characters to find it by, a dot, 32 characters; base62.
import { createHash, randomInt } from 'node:crypto';
import type { KeyKind } from '../http/auth.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}

/** A new key: shown once as `key`; `prefix` and `sha256` are kept. */
export function mintKey(kind: KeyKind): { key: string; prefix: string; sha256: Buffer } {
  const prefix = `${kind}_live_${randomBase62(8)}`;
  const key = `${prefix}.${randomBase62(32)}`;
  return { key, prefix, sha256: createHash('sha256').update(key).digest() };
}
