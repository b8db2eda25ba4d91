// Answers kept under an Idempotency-Key, per app, operation and profile, for a day.
import { type Kysely, sql } from 'kysely';
import { ANSWER_SEED } from '../db/advisory-locks.ts';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';
import { type Loop, startLoop } from '../lib/loop.ts';

export interface AnswerKey {
  app_id: string;
  profile_id: string;
  operation: 'grant' | 'revoke' | 'set_transaction';
  idempotency_key: string;
}

export interface KeptAnswer {
  body_sha256: Buffer;
  answer: string;
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
export async function takeAnswerKey(trx: Kysely<DB>, key: AnswerKey): Promise<boolean> {
  const name = JSON.stringify([key.app_id, key.profile_id, key.operation, key.idempotency_key]);
  const { rows } = await sql<{ is_taken: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, ${ANSWER_SEED})) as is_taken`.execute(trx);
  return rows[0]?.is_taken === true;
}

/** Returns the answer kept under the key within the last day. */
export async function findAnswer(trx: Kysely<DB>, key: AnswerKey, now: Date): Promise<KeptAnswer | undefined> {
  return trx
    .selectFrom('kept_answer')
    .select(['body_sha256', 'answer'])
    .where('app_id', '=', key.app_id)
    .where('profile_id', '=', key.profile_id)
    .where('operation', '=', key.operation)
    .where('idempotency_key', '=', key.idempotency_key)
    .where('kept_at', '>', expiryCutoff(now))
    .executeTakeFirst();
}

/** Keeps the answer, replacing one that is older than a day. */
export async function keepAnswer(trx: Kysely<DB>, kept: AnswerKey & KeptAnswer, now: Date): Promise<void> {
  const { body_sha256, answer, ...key } = kept;
  const values = { body_sha256, answer, kept_at: now.toISOString() };
  await trx
    .insertInto('kept_answer')
    .values({ ...key, ...values })
    .onConflict((conflict) =>
      conflict.columns(['app_id', 'profile_id', 'operation', 'idempotency_key']).doUpdateSet(values),
    )
    .execute();
}

/** Deletes up to a batch of answers older than a day and returns how many. Several processes may do so concurrently. */
export async function pruneAnswers(db: Kysely<DB>, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    with old as (
      select ctid from kept_answer where kept_at <= ${expiryCutoff(now)} order by kept_at limit ${PRUNE_BATCH}
      for update skip locked
    )
    delete from kept_answer using old where kept_answer.ctid = old.ctid`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Prunes until stopped. */
export function startPruning({ db, log, now }: Pick<Deps, 'db' | 'log' | 'now'>): Loop {
  return startLoop({
    log,
    name: 'answer retention',
    run: async () => ((await pruneAnswers(db, now())) < PRUNE_BATCH ? PRUNE_EVERY_MS : 0),
  });
}
