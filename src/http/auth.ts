// Who calls: `Authorization: Api-Key <key>` (interface 5, decisions.md 2). Whatever is wrong with it, the answer is the same.
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

/** Where keys are found; the apps feature gives it. Revoked keys are not found. */
export interface Keyring {
  findKey(prefix: string): Promise<StoredKey | undefined>;
}

/** The key that an operation asks for; `charts` marks what a key of scope analytics may do. */
export interface KeyNeeded {
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

/** By which header a stored public key was found right: such a key is no secret, and its text is compared faster than its digest. */
const rightHeaders = new WeakMap<StoredKey, string>();

function isRight(key: StoredKey | undefined, [header, prefix, secret]: readonly string[]): boolean {
  if (key && header && rightHeaders.get(key) === header) return true;
  const sha256 = header ? hash('sha256', `${prefix}.${secret}`, 'buffer') : NO_DIGEST;
  const isSame = timingSafeEqual(sha256, key?.sha256 ?? NO_STORED_DIGEST);
  if (key?.kind === 'public' && isSame && header) rightHeaders.set(key, header);
  return isSame;
}

/** An onRequest hook that lets in only callers with such a key, and sets `request.caller`. */
export function authenticate(keyring: Keyring, needed: KeyNeeded): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const given = FORM.exec(request.headers.authorization ?? '') ?? [];
    const key = await keyring.findKey(given[1] ?? '');
    const isAllowed = key?.kind === needed.kind && (key.scope === 'all' || needed.charts === true);
    if (!isRight(key, given) || !key || !isAllowed) throw apiError('not_authenticated');
    request.caller = key;
  };
}

/** The app of an authenticated request. */
export function appOf(request: FastifyRequest): App {
  if (!request.caller) throw new Error('an operation without a key asked for its app');
  return request.caller.app;
}
