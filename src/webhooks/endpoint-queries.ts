// Statements about endpoints.
import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import type { DB, Webhook } from '../db/types.ts';

type EndpointState = 'enabled' | 'disabled' | 'suspended';

export async function insertWebhook(db: Kysely<DB>, values: Insertable<Webhook>): Promise<void> {
  await db.insertInto('webhook').values(values).execute();
}

/** Clears an endpoint's failures. */
export const WITHOUT_FAILURES = { first_failure_at: null, failed_attempts: 0 };

type Settings = 'url' | 'authorization_value' | 'event_types' | 'first_failure_at' | 'failed_attempts';

/** Updates the given settings. Returns the endpoint as it then is, or undefined if there is none. */
export async function updateWebhook(db: Kysely<DB>, webhookId: string, values: Pick<Updateable<Webhook>, Settings>) {
  return db
    .updateTable('webhook')
    .set(values)
    .where('webhook_id', '=', webhookId)
    .returning(['webhook_id', 'app_id', 'url', 'event_types', 'state'])
    .executeTakeFirst();
}

export async function findWebhook(db: Kysely<DB>, webhookId: string): Promise<Selectable<Webhook> | undefined> {
  return db.selectFrom('webhook').selectAll().where('webhook_id', '=', webhookId).executeTakeFirst();
}

/** Counting an endpoint's deliveries stops here: counting more takes time, and nobody needs to know how many more. */
export const MAX_DELIVERIES_COUNTED = 100_000;

/** Counts the deliveries in a state for a row of `webhook`. */
export function countDeliveries(state: 'pending' | 'dead'): RawBuilder<number> {
  return sql<number>`(select count(*)::float8 from (select from webhook_delivery d
    where d.webhook_id = webhook.webhook_id and d.state = ${sql.lit(state)} limit ${MAX_DELIVERIES_COUNTED}) d)`;
}

/** Lists the endpoints of one app or of all, without their secrets. */
export async function listWebhookRows(db: Kysely<DB>, appId: string | undefined) {
  return db
    .selectFrom('webhook')
    .select(['webhook_id', 'app_id', 'url', 'event_types', 'state', 'state_reason', 'state_changed_at'])
    .select(['first_failure_at', 'failed_attempts', 'previous_secret_until', 'created_at'])
    .select((eb) => eb('authorization_value', 'is not', null).as('has_authorization'))
    .select([countDeliveries('pending').as('pending'), countDeliveries('dead').as('dead')])
    .$if(appId !== undefined, (query) => query.where('app_id', '=', appId as string))
    .orderBy('created_at')
    .orderBy('webhook_id')
    .execute();
}

export interface StateChange {
  webhookId: string;
  from: readonly EndpointState[];
  to: EndpointState;
  reason: string;
  now: Date;
}

/** Moves an endpoint to another state and clears its failures. Returns false if it was in none of the `from` states. */
export async function changeState(db: Kysely<DB>, { webhookId, from, to, reason, now }: StateChange): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook')
    .set({
      state: to,
      state_reason: reason,
      state_changed_at: sql`${now}`,
      ...WITHOUT_FAILURES,
    })
    .where('webhook_id', '=', webhookId)
    .where('state', 'in', from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const BATCH = 10_000;

/** Updates a batch of an endpoint's pending deliveries that meet `where`. Returns whether there may be more. */
async function updatePending(
  db: Kysely<DB>,
  webhookId: string,
  { where, set }: { where: RawBuilder<unknown>; set: RawBuilder<unknown> },
): Promise<boolean> {
  const { rows } = await sql`
    with batch as (
      select sequence from webhook_delivery
      where webhook_id = ${webhookId} and state = 'pending' and ${where} limit ${BATCH}
      for update
    )
    update webhook_delivery d set ${set}
    from batch where d.sequence = batch.sequence and d.webhook_id = ${webhookId}
    returning d.sequence`.execute(db);
  return rows.length === BATCH;
}

/**
 * Makes a batch of an endpoint's pending deliveries due now, whatever their schedule was. Returns whether there may be
 * more. A `queued_at` in the future, left from before the clock was set back, becomes now.
 */
export function makePendingDue(db: Kysely<DB>, webhookId: string, now: Date): Promise<boolean> {
  const where = sql`claim_id is null and due_at > ${now}`;
  return updatePending(db, webhookId, { where, set: sql`due_at = ${now}, queued_at = least(queued_at, ${now})` });
}

/** Every lease ends within this time. */
const MAX_LEASE = '1 minute';

/**
 * Revokes the claims on deliveries that are being sent: the responses no longer count, and the deliveries are due again
 * when their leases end.
 */
export async function revokeClaims(db: Kysely<DB>, webhookId: string, now: Date): Promise<void> {
  // Found by the end of their leases, so that the backlog is not read.
  await sql`
    update webhook_delivery set claim_id = gen_random_uuid()
    where webhook_id = ${webhookId} and state = 'pending' and claim_id is not null
      and due_at > ${now} and due_at <= ${now}::timestamptz + ${MAX_LEASE}::interval`.execute(db);
}

export interface NewSecret {
  webhookId: string;
  secret: string;
  previousUntil: Date;
}

/** Makes the current secret the previous one. */
export async function replaceSecret(db: Kysely<DB>, { webhookId, secret, previousUntil }: NewSecret): Promise<void> {
  await db
    .updateTable('webhook')
    .set((eb) => ({ previous_secret: eb.ref('secret'), previous_secret_until: sql`${previousUntil}`, secret }))
    .where('webhook_id', '=', webhookId)
    .execute();
}

/** Deletes previous secrets that no longer sign. */
export async function deleteExpiredSecrets(db: Kysely<DB>, now: Date): Promise<void> {
  await db
    .updateTable('webhook')
    .set({ previous_secret: null, previous_secret_until: null })
    .where('previous_secret_until', '<=', sql<string>`${now}`)
    .execute();
}

type StoredSecrets = Pick<Selectable<Webhook>, 'secret' | 'previous_secret' | 'authorization_value'>;

/** Lists the secrets of every endpoint as they are stored. */
export async function listStoredSecrets(db: Kysely<DB>) {
  return db
    .selectFrom('webhook')
    .select(['webhook_id', 'secret', 'previous_secret', 'previous_secret_until', 'authorization_value'])
    .execute();
}

/** Lists the secrets of every endpoint as they are stored, and locks the rows until the transaction ends. */
export async function listSecretsForUpdate(db: Kysely<DB>): Promise<(StoredSecrets & { webhook_id: string })[]> {
  return db
    .selectFrom('webhook')
    .select(['webhook_id', 'secret', 'previous_secret', 'authorization_value'])
    .orderBy('webhook_id')
    .forUpdate()
    .execute();
}

export async function updateSecrets(db: Kysely<DB>, webhookId: string, stored: StoredSecrets): Promise<void> {
  await db.updateTable('webhook').set(stored).where('webhook_id', '=', webhookId).execute();
}

export async function deleteWebhook(db: Kysely<DB>, webhookId: string): Promise<void> {
  await db.deleteFrom('webhook').where('webhook_id', '=', webhookId).execute();
}

/**
 * Lists the transactions that are writing deliveries. A transaction that is not among them will see the endpoints as
 * they are now when it writes, because its statement locks the table before it takes its snapshot.
 */
export async function listWriters(db: Kysely<DB>): Promise<string[]> {
  const { rows } = await sql<{ virtualtransaction: string }>`
    select virtualtransaction from pg_locks
    where database = (select oid from pg_database where datname = current_database())
      and relation = 'webhook_delivery'::regclass and mode = 'RowExclusiveLock' and granted`.execute(db);
  return rows.map(({ virtualtransaction }) => virtualtransaction);
}

/**
 * Marks a batch of an endpoint's pending deliveries dead. Returns whether there may be more. One that is being sent
 * keeps its claim, so that it is recorded as delivered if it arrives.
 */
export function killPending(
  db: Kysely<DB>,
  webhookId: string,
  { now, reason }: { now: Date; reason: string },
): Promise<boolean> {
  const set = sql`state = 'dead', finished_at = ${now}, last_error = ${reason}`;
  return updatePending(db, webhookId, { where: sql`true`, set });
}
