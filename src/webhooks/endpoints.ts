// What an operator does to the endpoints of an app. listWebhooks shows each one's state, since when and why.
import { randomUUID } from 'node:crypto';
import { getApp } from '../apps/service.ts';
import { inTransaction } from '../db/client.ts';
import type { Deps } from '../deps.ts';
import { timestampOf, toDatabase, toWire } from '../lib/datetime.ts';
import { isUuid } from '../lib/uuid.ts';
import { OperatorError } from '../operator-error.ts';
import { EVENT_TYPE_NAMES } from './catalogue.ts';
import type { SenderEdges } from './delivery.ts';
import { policyOf, refusalOfUrl } from './destinations.ts';
import {
  changeState,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  killWaiting,
  listStoredSecrets,
  listWebhookRows,
  makeWaitingDue,
  replaceSecret,
  type StateChange,
} from './endpoint-queries.ts';
import { SealedError, sealedWith } from './sealing.ts';
import { newSecret, readSecrets, type SecretColumns, type Secrets, storedValues, toStored } from './secrets.ts';
import { sendTestEvent } from './test-event.ts';

export type EndpointDeps = Pick<Deps, 'db' | 'config' | 'now'>;

const AUTHORIZATION = /^[\x21-\x7e]([\x20-\x7e]{0,998}[\x21-\x7e])?$/;
const OVERLAP_MS = 86_400_000;

/** The row of an endpoint, or an OperatorError. */
export async function getWebhook({ db }: Pick<Deps, 'db'>, webhookId: string) {
  const row = isUuid(webhookId) ? await findWebhook(db, webhookId) : undefined;
  if (!row) throw new OperatorError(`There is no webhook ${webhookId}; \`sps webhook list\` shows them.`);
  return row;
}

export interface NewWebhook {
  appId: string;
  url: string;
  /** The value of the Authorization header. */
  authorization?: string;
  /** The types of events it wants; all unless given. */
  events?: readonly string[];
  /** Whether a test event must get 2xx first; yes unless false. */
  verify?: boolean;
}

function checkInput({ config }: EndpointDeps, { url, authorization, events }: NewWebhook): void {
  const refusal = refusalOfUrl(url, policyOf(config));
  if (refusal !== undefined) throw new OperatorError(`The address cannot be used: ${refusal}.`);
  if (authorization !== undefined && !AUTHORIZATION.test(authorization)) {
    throw new OperatorError(
      'The Authorization value must have 1 to 1000 printable ASCII characters, no space at its ends.',
    );
  }
  const strangers = events?.filter((type) => !EVENT_TYPE_NAMES.some((name) => name === type)) ?? [];
  if (strangers.length > 0 || events?.length === 0) {
    throw new OperatorError(
      `There is no event ${strangers.join(', ') || '(none given)'}; there are ${EVENT_TYPE_NAMES.join(', ')}.`,
    );
  }
}

/** Where secrets are encrypted, none is stored in clear because the key was not at hand. */
async function requireKey({ db, config }: EndpointDeps): Promise<void> {
  if (config.SPS_ENCRYPTION_KEY) return;
  const stored = (await listStoredSecrets(db)).flatMap(storedValues);
  if (!stored.some(sealedWith)) return;
  throw new OperatorError(
    'The secrets of webhooks are encrypted: set SPS_ENCRYPTION_KEY, as it is set for the service.',
  );
}

/** Adds an enabled endpoint; its secret is shown this once. */
export async function addWebhook(
  deps: EndpointDeps,
  input: NewWebhook,
  edges: SenderEdges = {},
): Promise<{ webhook_id: string; secret: string }> {
  const { app_id } = await getApp(deps, input.appId);
  checkInput(deps, input);
  await requireKey(deps);
  const now = deps.now();
  const webhook_id = randomUUID();
  const secret = newSecret();
  const url = new URL(input.url);
  url.hash = '';
  const authorization = input.authorization ?? null;
  if (input.verify !== false) {
    await sendTestEvent(deps, { webhook_id, isNew: true, url: url.href, authorization, signing: [secret] }, edges);
  }
  await insertWebhook(deps.db, {
    webhook_id,
    app_id,
    url: url.href,
    authorization_value: toStored(authorization, deps.config),
    secret: toStored(secret, deps.config),
    event_types: input.events ? [...new Set(input.events)] : null,
    state: 'enabled',
    state_reason: 'added',
    state_changed_at: now.toISOString(),
    created_at: now.toISOString(),
  });
  return { webhook_id, secret };
}

/** The endpoints of one app, or of all: their state, why and since when, and how much waits or is dead. */
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

type Move = Pick<StateChange, 'from' | 'to' | 'reason'> & { otherwise: string };

async function move(deps: EndpointDeps, webhookId: string, { otherwise, ...change }: Move) {
  const { webhook_id, state } = await getWebhook(deps, webhookId);
  const now = deps.now();
  const isMoved = await inTransaction(deps.db, async (trx) => {
    if (!(await changeState(trx, { ...change, webhookId: webhook_id, now }))) return false;
    if (change.to === 'enabled') await makeWaitingDue(trx, webhook_id, now);
    return true;
  });
  if (!isMoved) throw new OperatorError(`The webhook is ${state}: ${otherwise}.`);
  return { webhook_id, state: change.to };
}

/** Of a disabled endpoint: what waited for it goes out now. */
export function enableWebhook(deps: EndpointDeps, webhookId: string) {
  const otherwise = 'only a disabled one is enabled, a suspended one is resumed';
  return move(deps, webhookId, { from: ['disabled'], to: 'enabled', reason: 'enabled by the operator', otherwise });
}

/** What waits for it is kept; no events are written for it. */
export function disableWebhook(deps: EndpointDeps, webhookId: string) {
  const change: Move = {
    from: ['enabled', 'suspended'],
    to: 'disabled',
    reason: 'disabled by the operator',
    otherwise: 'there is nothing to disable',
  };
  return move(deps, webhookId, change);
}

/** Of an endpoint that the service suspended: what waited for it goes out now. */
export function resumeWebhook(deps: EndpointDeps, webhookId: string) {
  const otherwise = 'only a suspended one is resumed, a disabled one is enabled';
  return move(deps, webhookId, { from: ['suspended'], to: 'enabled', reason: 'resumed by the operator', otherwise });
}

/** A new secret, shown this once; the old one signs too for a day. */
export async function rotateWebhookSecret(deps: EndpointDeps, webhookId: string) {
  const { webhook_id } = await getWebhook(deps, webhookId);
  await requireKey(deps);
  const secret = newSecret();
  const previousUntil = new Date(deps.now().getTime() + OVERLAP_MS);
  await replaceSecret(deps.db, { webhookId: webhook_id, secret: toStored(secret, deps.config), previousUntil });
  return { webhook_id, secret, previous_secret_until: toWire(toDatabase(timestampOf(previousUntil))) };
}

function openSecrets({ config, now }: EndpointDeps, row: SecretColumns): Secrets {
  try {
    return readSecrets(row, config, now());
  } catch (error) {
    if (error instanceof SealedError) throw new OperatorError(`The secrets of the webhook are ${error.message}.`);
    throw error;
  }
}

/** Sends a signed test event, which must be answered with 2xx; else an OperatorError says what came instead. */
export async function testWebhook(deps: EndpointDeps, webhookId: string, edges: SenderEdges = {}) {
  const row = await getWebhook(deps, webhookId);
  const { signing, authorization } = openSecrets(deps, row);
  const { status, seconds } = await sendTestEvent(
    deps,
    { webhook_id: row.webhook_id, isNew: false, url: row.url, authorization, signing },
    edges,
  );
  return { webhook_id: row.webhook_id, status, seconds: Number(seconds.toFixed(3)) };
}

/** Removes an endpoint. What waits for it is dead, what is being sent is as it will be answered; what was delivered stays in the feed. */
export async function removeWebhook(deps: EndpointDeps, webhookId: string) {
  const { webhook_id } = await getWebhook(deps, webhookId);
  await deleteWebhook(deps.db, webhook_id);
  // Nothing is claimed any more for an endpoint that is gone. Should this be cut short, the rest dies of age.
  const end = { now: deps.now(), reason: 'the webhook was removed' };
  while (await killWaiting(deps.db, webhook_id, end));
  return { webhook_id };
}
