// The operator's commands for endpoints, except adding and changing them (endpoint-settings.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { getApp } from '../apps/service.ts';
import { inTransaction } from '../db/transactions.ts';
import type { Deps } from '../deps.ts';
import { DAY_MS, timestampOf, toDatabase, toWire } from '../lib/datetime.ts';
import { isUuid } from '../lib/uuid.ts';
import { OperatorError } from '../operator-error.ts';
import type { SenderOverrides } from './delivery.ts';
import {
  changeState,
  deleteWebhook,
  findWebhook,
  killPending,
  listStoredSecrets,
  listWebhookRows,
  listWriters,
  makePendingDue,
  replaceSecret,
  type StateChange,
} from './endpoint-queries.ts';
import { findKey, SealedError, sealedWith } from './sealing.ts';
import { newSecret, readSecrets, type SecretColumns, type Secrets, storedValues, toStored } from './secrets.ts';
import { sendTestEvent } from './test-event.ts';

export type EndpointDeps = Pick<Deps, 'db' | 'config' | 'now'>;

const OVERLAP_MS = DAY_MS;

export function noSuchWebhook(webhookId: string): OperatorError {
  return new OperatorError(`There is no webhook ${webhookId}; see \`sps webhook list\`.`);
}

/** Returns the row of an endpoint; throws an OperatorError if there is none. */
export async function getWebhook({ db }: Pick<Deps, 'db'>, webhookId: string) {
  const row = isUuid(webhookId) ? await findWebhook(db, webhookId) : undefined;
  if (!row) throw noSuchWebhook(webhookId);
  return row;
}

/**
 * Throws an OperatorError if stored secrets are encrypted with a key that is missing here. Otherwise a new secret would
 * be stored in clear, or encrypted with a key that no service has.
 */
export async function requireKey({ db, config }: EndpointDeps): Promise<void> {
  for (const row of await listStoredSecrets(db)) {
    const keyIds = storedValues(row).map(sealedWith);
    try {
      for (const keyId of keyIds) if (keyId !== undefined) findKey(keyId, config);
    } catch (error) {
      if (!(error instanceof SealedError)) throw error;
      throw new OperatorError(
        `The secrets of the webhook ${row.webhook_id} are ${error.message}. Set both variables to the values that the service has. If the key is lost, remove that webhook first.`,
      );
    }
  }
}

/** Lists the endpoints of one app or of all, with their state and how many deliveries are pending or dead. */
export async function listWebhooks(deps: Pick<Deps, 'db'>, appId?: string) {
  if (appId !== undefined) await getApp(deps, appId);
  const rows = await listWebhookRows(deps.db, appId);
  return rows.map((row) => ({
    ...row,
    state_changed_at: toWire(row.state_changed_at),
    first_failure_at: toWire(row.first_failure_at),
    previous_secret_until: toWire(row.previous_secret_until),
    created_at: toWire(row.created_at),
  }));
}

/** Makes an endpoint's pending deliveries due now, batch by batch, so that no result has to wait for all of them. */
export async function makeAllPendingDue({ db, now }: EndpointDeps, webhookId: string): Promise<void> {
  const at = now();
  while (await inTransaction(db, (trx) => makePendingDue(trx, webhookId, at)));
}

type Transition = Pick<StateChange, 'from' | 'to' | 'reason'> & { hint: string };

async function transition(deps: EndpointDeps, webhookId: string, { hint, ...change }: Transition) {
  const { webhook_id, state } = await getWebhook(deps, webhookId);
  // Done before the state changes, so that an interrupted command can be repeated. Meanwhile nothing is claimed for an
  // endpoint that is disabled or suspended.
  if (change.to === 'enabled' && (change.from as readonly string[]).includes(state))
    await makeAllPendingDue(deps, webhook_id);
  const isChanged = await changeState(deps.db, { ...change, webhookId: webhook_id, now: deps.now() });
  if (!isChanged) throw new OperatorError(`The webhook is ${state}: ${hint}.`);
  return { webhook_id, state: change.to };
}

/** Enables a disabled endpoint. Its pending deliveries are due now. */
export function enableWebhook(deps: EndpointDeps, webhookId: string) {
  const hint = 'only a disabled webhook can be enabled, and a suspended one resumed';
  return transition(deps, webhookId, { from: ['disabled'], to: 'enabled', reason: 'enabled by the operator', hint });
}

/** Disables an endpoint. Its pending deliveries are kept, and no new ones are written for it. */
export function disableWebhook(deps: EndpointDeps, webhookId: string) {
  const change: Transition = {
    from: ['enabled', 'suspended'],
    to: 'disabled',
    reason: 'disabled by the operator',
    hint: 'there is nothing to disable',
  };
  return transition(deps, webhookId, change);
}

/**
 * Resumes an endpoint that the service suspended, or whose receiver has recovered: its pending deliveries are due now,
 * and its failures are cleared.
 */
export function resumeWebhook(deps: EndpointDeps, webhookId: string) {
  const change: Transition = {
    from: ['suspended', 'enabled'],
    to: 'enabled',
    reason: 'resumed by the operator',
    hint: 'a disabled webhook must be enabled, not resumed',
  };
  return transition(deps, webhookId, change);
}

/** Gives an endpoint a new secret, returned this once. For a day the old one signs too. */
export async function rotateWebhookSecret(deps: EndpointDeps, webhookId: string) {
  const { webhook_id } = await getWebhook(deps, webhookId);
  await requireKey(deps);
  const secret = newSecret();
  const previousUntil = new Date(deps.now().getTime() + OVERLAP_MS);
  await replaceSecret(deps.db, { webhookId: webhook_id, secret: toStored(secret, deps.config), previousUntil });
  return { webhook_id, secret, previous_secret_until: toWire(toDatabase(timestampOf(previousUntil))) };
}

/** Returns an endpoint's secrets as they are now; throws an OperatorError if they cannot be opened. */
export function openSecrets({ config, now }: EndpointDeps, row: SecretColumns): Secrets {
  try {
    return readSecrets(row, config, now());
  } catch (error) {
    if (error instanceof SealedError) throw new OperatorError(`The secrets of the webhook are ${error.message}.`);
    throw error;
  }
}

/** Sends a signed test event. Throws an OperatorError that says what came back if that is not 2xx. */
export async function testWebhook(deps: EndpointDeps, webhookId: string, overrides: SenderOverrides = {}) {
  const row = await getWebhook(deps, webhookId);
  const { signing, authorization } = openSecrets(deps, row);
  const { status, seconds } = await sendTestEvent(
    deps,
    { webhook_id: row.webhook_id, url: row.url, authorization, signing, knowsSecret: true },
    overrides,
  );
  return { webhook_id: row.webhook_id, status, seconds: Number(seconds.toFixed(3)) };
}

const WRITERS_POLL_MS = 50;
const WRITERS_TIMEOUT_MS = 60_000;

/**
 * Waits for the transactions that are writing deliveries, but at most a minute, within which the service's own
 * transactions end. Locking the table would wait for them too, but also for a vacuum, and would hold up grants.
 */
async function awaitWriters(db: Deps['db']): Promise<void> {
  const waitUntil = performance.now() + WRITERS_TIMEOUT_MS;
  let writers = await listWriters(db);
  while (writers.length > 0 && performance.now() < waitUntil) {
    await sleep(WRITERS_POLL_MS);
    const present = await listWriters(db);
    writers = writers.filter((one) => present.includes(one));
  }
}

/**
 * Removes an endpoint. Its pending deliveries become dead, but those being sent still count as delivered if they
 * succeed. Its history stays in the feed.
 */
export async function removeWebhook(deps: EndpointDeps, webhookId: string) {
  const { webhook_id } = await getWebhook(deps, webhookId);
  await deleteWebhook(deps.db, webhook_id);
  // Nothing more is claimed for a removed endpoint. If this is interrupted, the remaining deliveries die of age.
  const end = { now: deps.now(), reason: 'the webhook was removed' };
  const killAll = async () => {
    while (await inTransaction(deps.db, (trx) => killPending(trx, webhook_id, end)));
  };
  await killAll();
  // Kill the deliveries that were being recorded for it meanwhile, too.
  await awaitWriters(deps.db);
  await killAll();
  return { webhook_id };
}
