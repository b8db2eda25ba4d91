// Authentication by `Authorization: Api-Key <key>` (interface 5, decisions.md 2). The response is the same whatever is
// wrong with the key.
import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { App } from '../deps.ts';
import { apiError } from '../errors.ts';

export type KeyKind = 'public' | 'secret';
export type KeyScope = 'all' | 'analytics';

/** A key as it is stored. */
export interface StoredKey {
  key_id: string;
  kind: KeyKind;
  scope: KeyScope;
  sha256: Buffer;
  app: App;
}

/** Looks keys up; provided by the apps feature. Revoked keys are not found. */
export interface Keyring {
  findKey(prefix: string): Promise<StoredKey | undefined>;
}

/** The key that an operation requires; `charts` marks the operations that keys of scope analytics may also use. */
export interface RequiredKey {
  kind: KeyKind;
  charts?: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The app and key of an authenticated request. */
    caller: StoredKey | null;
  }
}

const FORM = /^Api-Key +((?:public|secret)_live_[0-9A-Za-z]{8})\.([0-9A-Za-z]{32})$/i;
const NO_DIGEST = Buffer.alloc(32);
const NO_STORED_DIGEST = Buffer.alloc(32, 1);

/**
 * The header with which each stored public key last authenticated. A public key is not secret, so comparing its text is
 * safe, and faster than comparing digests.
 */
const validHeaders = new WeakMap<StoredKey, string>();

function isValidKey(key: StoredKey | undefined, [header, prefix, secret]: readonly string[]): boolean {
  if (key && header && validHeaders.get(key) === header) return true;
  const sha256 = header ? hash('sha256', `${prefix}.${secret}`, 'buffer') : NO_DIGEST;
  const isSame = timingSafeEqual(sha256, key?.sha256 ?? NO_STORED_DIGEST);
  if (key?.kind === 'public' && isSame && header) validHeaders.set(key, header);
  return isSame;
}

/** Returns an onRequest hook that admits only callers with the required key and sets `request.caller`. */
export function authenticate(keyring: Keyring, required: RequiredKey): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const given = FORM.exec(request.headers.authorization ?? '') ?? [];
    const key = await keyring.findKey(given[1] ?? '');
    const isAllowed = key?.kind === required.kind && (key.scope === 'all' || required.charts === true);
    if (!isValidKey(key, given) || !key || !isAllowed) throw apiError('not_authenticated');
    request.caller = key;
  };
}

/** Returns the app of an authenticated request. */
export function appOf(request: FastifyRequest): App {
  if (!request.caller) throw new Error('an operation that needs no key has no app');
  return request.caller.app;
}
