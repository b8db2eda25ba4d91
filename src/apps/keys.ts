// The format of keys (decisions.md 2): kind, 8 characters to find the key by, a dot, 32 characters; base62.
import { hash, randomInt } from 'node:crypto';
import type { KeyKind } from '../http/auth.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}

/** Makes a new key. `key` is shown once; `prefix` and `sha256` are stored. */
export function mintKey(kind: KeyKind): { key: string; prefix: string; sha256: Buffer } {
  const prefix = `${kind}_live_${randomBase62(8)}`;
  const key = `${prefix}.${randomBase62(32)}`;
  return { key, prefix, sha256: hash('sha256', key, 'buffer') };
}
