// Responses kept under an Idempotency-Key, per app, operation and profile, for a day.
import { type Kysely, sql } from 'kysely';
import { IDEMPOTENCY_SEED } from '../db/advisory-locks.ts';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { type Loop, startLoop } from '../lib/loop.ts';

export interface IdempotencyKey {
  app_id: string;
  profile_id: string;
  operation: 'grant' | 'revoke' | 'set_transaction';
  idempotency_key: string;
}

export interface KeptResponse {
  body_sha256: Buffer;
  response: string;
}

const KEPT_MS = 24 * 3_600_000;
const PRUNE_BATCH = 1_000;
const PRUNE_EVERY_MS = 10 * 60_000;

function expiryCutoff(now: Date): string {
  return new Date(now.getTime() - KEPT_MS).toISOString();
}

/**
 * Takes the key until the transaction ends. Returns false if another transaction holds it, which means that the first
 * request is still running. This is an advisory lock, not a row lock, so a second request learns that immediately
 * instead of waiting behind the first for the profile.
 */
export async function takeKey(trx: Kysely<DB>, key: IdempotencyKey): Promise<boolean> {
  const name = JSON.stringify([key.app_id, key.profile_id, key.operation, key.idempotency_key]);
  const { rows } = await sql<{ is_taken: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, ${IDEMPOTENCY_SEED})) as is_taken`.execute(trx);
  return rows[0]?.is_taken === true;
}

/** Returns the response kept under the key within the last day. */
export async function findKeptResponse(
  trx: Kysely<DB>,
  key: IdempotencyKey,
  now: Date,
): Promise<KeptResponse | undefined> {
  return trx
    .selectFrom('kept_response')
    .select(['body_sha256', 'response'])
    .where('app_id', '=', key.app_id)
    .where('profile_id', '=', key.profile_id)
    .where('operation', '=', key.operation)
    .where('idempotency_key', '=', key.idempotency_key)
    .where('kept_at', '>', expiryCutoff(now))
    .executeTakeFirst();
}

/** Keeps the response, replacing one that is older than a day. */
export async function keepResponse(trx: Kysely<DB>, kept: IdempotencyKey & KeptResponse, now: Date): Promise<void> {
  const { body_sha256, response, ...key } = kept;
  const values = { body_sha256, response, kept_at: now.toISOString() };
  await trx
    .insertInto('kept_response')
    .values({ ...key, ...values })
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'profile_id', 'operation', 'idempotency_key']).doUpdateSet(values),
    )
    .execute();
}

/** Deletes up to a batch of responses older than a day and returns how many. Several processes may do so concurrently. */
export async function pruneKeptResponses(db: Kysely<DB>, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    with old as (
      select ctid from kept_response where kept_at <= ${expiryCutoff(now)} order by kept_at limit ${PRUNE_BATCH}
      for update skip locked
    )
    delete from kept_response using old where kept_response.ctid = old.ctid`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Prunes until stopped. */
export function startPruning({ db, log, now }: Pick<Deps, 'db' | 'log' | 'now'>): Loop {
  return startLoop({
    log,
    name: 'response retention',
    run: async () => ((await pruneKeptResponses(db, now())) < PRUNE_BATCH ? PRUNE_EVERY_MS : 0),
  });
}
