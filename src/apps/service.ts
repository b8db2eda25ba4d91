// What an operator does with an app: create it, issue and revoke its keys, configure its access levels.
import type { Kysely } from 'kysely';
import { inTransaction, withContendedLock } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { lockProducts } from '../facts/product-lock.ts';
import type { KeyKind, KeyScope } from '../http/auth.ts';
import { toWire } from '../lib/datetime.ts';
import { lengthOf } from '../lib/text.ts';
import { isUuid } from '../lib/uuid.ts';
import { findZone } from '../lib/zone.ts';
import { OperatorError, requireChange } from '../operator-error.ts';
import { mintKey } from './keys.ts';
import {
  deleteAccessLevel,
  findApp,
  insertAccessLevel,
  insertApp,
  insertKey,
  listAccessLevelsOf,
  listAllApps,
  listKeysOf,
  lockGrants,
  markKeyRevoked,
  readUseOfLevel,
  updateApp,
} from './queries.ts';

export interface NewApp extends AppChange {
  name: string;
  timezone?: string;
}

/**
 * What may change about an app; absent members stay as they are. Not its time zone, because the days of all facts are
 * in it.
 */
export interface AppChange {
  name?: string;
  profile_shape?: App['profile_shape'];
  attribution_policy?: App['attribution_policy'];
  sharing?: App['sharing'];
}

const MAX_CHARACTERS = 255;

async function issueKey(db: Kysely<DB>, appId: string, { kind, scope = 'all' }: { kind: KeyKind; scope?: KeyScope }) {
  const { key, prefix, sha256 } = mintKey(kind);
  const { key_id } = await insertKey(db, { app_id: appId, kind, scope, prefix, sha256 });
  return { key_id, key };
}

function checkName(name: string): void {
  if (name.trim() === '' || lengthOf(name) > MAX_CHARACTERS)
    throw new OperatorError('A name must have 1 to 255 characters.');
}

/** Creates an app with a public and a secret key, which are shown only this once. */
export async function createApp(
  { db }: Pick<Deps, 'db'>,
  { timezone = 'UTC', ...values }: NewApp,
): Promise<{ app: App; public_key: string; secret_key: string }> {
  if (!findZone(timezone))
    throw new OperatorError(`There is no time zone ${timezone}; use an IANA name such as Europe/Berlin.`);
  checkName(values.name);
  return inTransaction(db, async (trx) => {
    const app = await insertApp(trx, { ...values, timezone });
    const { key: public_key } = await issueKey(trx, app.app_id, { kind: 'public' });
    const { key: secret_key } = await issueKey(trx, app.app_id, { kind: 'secret' });
    return { app, public_key, secret_key };
  });
}

/** Running services apply the change within two seconds; what was recorded before stays as it is. */
export async function changeApp(deps: Pick<Deps, 'db'>, appId: string, change: AppChange) {
  const { app_id } = await getApp(deps, appId);
  requireChange(change);
  if (change.name !== undefined) checkName(change.name);
  const { name, profile_shape, attribution_policy, sharing } = await updateApp(deps.db, app_id, change);
  return { app_id, name, profile_shape, attribution_policy, sharing };
}

/** Returns the app with this id, or throws an OperatorError. */
export async function getApp({ db }: Pick<Deps, 'db'>, appId: string): Promise<App & { name: string }> {
  const app = isUuid(appId) ? await findApp(db, appId) : undefined;
  if (!app) throw new OperatorError(`There is no app ${appId}; see \`sps app list\`.`);
  return app;
}

export async function listApps({ db }: Pick<Deps, 'db'>) {
  return (await listAllApps(db)).map(({ app_key: _, ...app }) => ({ ...app, created_at: toWire(app.created_at) }));
}

export async function createKey(
  deps: Pick<Deps, 'db'>,
  { appId, kind, scope = 'all' }: { appId: string; kind: KeyKind; scope?: KeyScope },
): Promise<{ key_id: string; key: string }> {
  const { app_id } = await getApp(deps, appId);
  if (kind === 'public' && scope !== 'all') throw new OperatorError('Only a secret key can have the scope analytics.');
  return issueKey(deps.db, app_id, { kind, scope });
}

export async function listKeys(deps: Pick<Deps, 'db'>, appId: string) {
  const { app_id } = await getApp(deps, appId);
  const keys = await listKeysOf(deps.db, app_id);
  return keys.map((key) => ({ ...key, created_at: toWire(key.created_at), revoked_at: toWire(key.revoked_at) }));
}

/** Running services refuse the key within two seconds. */
export async function revokeKey(
  { db }: Pick<Deps, 'db'>,
  keyId: string,
): Promise<{ key_id: string; revoked_at: string | null }> {
  const revoked = isUuid(keyId) ? await markKeyRevoked(db, keyId) : undefined;
  if (!revoked) throw new OperatorError(`There is no key ${keyId}; see \`sps key list\`.`);
  return { key_id: keyId, revoked_at: toWire(revoked.revoked_at) };
}

export async function addAccessLevel(deps: Pick<Deps, 'db'>, appId: string, accessLevelId: string): Promise<void> {
  const { app_id } = await getApp(deps, appId);
  if (accessLevelId.trim() === '' || lengthOf(accessLevelId) > MAX_CHARACTERS) {
    throw new OperatorError('The id of an access level must have 1 to 255 characters.');
  }
  await insertAccessLevel(deps.db, { app_id, access_level_id: accessLevelId });
}

/** Removes a level that was never granted and that no product opens, such as a mistyped one. */
export async function removeAccessLevel({ db }: Pick<Deps, 'db'>, appId: string, accessLevelId: string): Promise<void> {
  const { app_id, app_key } = await getApp({ db }, appId);
  const level = { app_id, access_level_id: accessLevelId };
  await withContendedLock(db, async (trx) => {
    await lockProducts(trx, app_key);
    // Otherwise the foreign key would refuse a grant that is just being stored.
    await lockGrants(trx);
    const { is_granted, is_opened } = await readUseOfLevel(trx, level);
    if (is_granted) throw new OperatorError(`${accessLevelId} cannot be removed: it was granted to profiles.`);
    if (is_opened)
      throw new OperatorError(`${accessLevelId} cannot be removed: products open it; see \`sps product list\`.`);
    if (!(await deleteAccessLevel(trx, level))) {
      throw new OperatorError(`There is no access level ${accessLevelId}; see \`sps access-level list\`.`);
    }
  });
}

export async function listAccessLevels(deps: Pick<Deps, 'db'>, appId: string) {
  const { app_id } = await getApp(deps, appId);
  const levels = await listAccessLevelsOf(deps.db, app_id);
  return levels.map((level) => ({ ...level, created_at: toWire(level.created_at) }));
}
