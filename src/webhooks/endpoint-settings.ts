// Adds endpoints and changes their address, Authorization value and event types. A destination is first tried with a
// test event.
import { randomUUID } from 'node:crypto';
import { getApp } from '../apps/service.ts';
import { inTransaction } from '../db/transactions.ts';
import { OperatorError, requireChange } from '../operator-error.ts';
import { EVENT_TYPE_NAMES } from './catalogue.ts';
import type { SenderOverrides } from './delivery.ts';
import { policyOf, refusalOfUrl } from './destinations.ts';
import { insertWebhook, revokeClaims, updateWebhook, WITHOUT_FAILURES } from './endpoint-queries.ts';
import {
  type EndpointDeps,
  getWebhook,
  makeAllPendingDue,
  noSuchWebhook,
  openSecrets,
  requireKey,
} from './endpoints.ts';
import { newSecret, toStored } from './secrets.ts';
import { sendTestEvent } from './test-event.ts';

const AUTHORIZATION = /^[\x21-\x7e]([\x20-\x7e]{0,998}[\x21-\x7e])?$/;

/** The settings of an endpoint. In a change, absent settings keep their values. */
export interface WebhookChange {
  url?: string;
  /** The value of the Authorization header; null sends none. */
  authorization?: string | null;
  /** The event types it receives; null means all. */
  events?: readonly string[] | null;
  /** Whether a test event must first be answered with 2xx; true by default. */
  verify?: boolean;
}

/** By default, it gets all events and no Authorization header. */
export interface NewWebhook extends WebhookChange {
  appId: string;
  url: string;
}

function checkInput({ config }: EndpointDeps, { url, authorization, events }: WebhookChange): void {
  const refusal = url === undefined ? undefined : refusalOfUrl(url, policyOf(config));
  if (refusal !== undefined) throw new OperatorError(`The address cannot be used: ${refusal}.`);
  if (typeof authorization === 'string' && !AUTHORIZATION.test(authorization)) {
    throw new OperatorError(
      'The Authorization value must have 1 to 1000 printable ASCII characters, without leading or trailing spaces.',
    );
  }
  const unknownTypes = events?.filter((type) => !EVENT_TYPE_NAMES.some((name) => name === type)) ?? [];
  if (unknownTypes.length > 0 || events?.length === 0) {
    const problem =
      unknownTypes.length > 0 ? `Unknown event types: ${unknownTypes.join(', ')}.` : 'No event type was given.';
    throw new OperatorError(`${problem} Valid types: ${EVENT_TYPE_NAMES.join(', ')}.`);
  }
}

/** Removes the fragment of a URL, which is never sent to a server. */
function toAddress(url: string): string {
  const address = new URL(url);
  address.hash = '';
  return address.href;
}

function toEventTypes(events: readonly string[] | null | undefined): string[] | null {
  return events ? [...new Set(events)] : null;
}

/** Adds an enabled endpoint. Its secret is returned this once. */
export async function addWebhook(
  deps: EndpointDeps,
  input: NewWebhook,
  overrides: SenderOverrides = {},
): Promise<{ webhook_id: string; secret: string }> {
  const { app_id } = await getApp(deps, input.appId);
  checkInput(deps, input);
  await requireKey(deps);
  const now = deps.now();
  const webhook_id = randomUUID();
  const secret = newSecret();
  const url = toAddress(input.url);
  const authorization = input.authorization ?? null;
  if (input.verify !== false) {
    await sendTestEvent(deps, { webhook_id, url, authorization, signing: [secret], knowsSecret: false }, overrides);
  }
  await insertWebhook(deps.db, {
    webhook_id,
    app_id,
    url,
    authorization_value: toStored(authorization, deps.config),
    secret: toStored(secret, deps.config),
    event_types: toEventTypes(input.events),
    state: 'enabled',
    state_reason: 'added',
    state_changed_at: now.toISOString(),
    created_at: now.toISOString(),
  });
  return { webhook_id, secret };
}

/**
 * Changes an endpoint in place: pending deliveries are kept and go to its new destination, signed with the same secret.
 * A test event with a new address or Authorization value must first be answered with 2xx. Such a change clears the
 * failures, makes pending deliveries due, and has those that are being sent sent again. The state stays as it is.
 */
export async function changeWebhook(
  deps: EndpointDeps,
  { webhookId, verify, ...change }: WebhookChange & { webhookId: string },
  overrides: SenderOverrides = {},
) {
  const row = await getWebhook(deps, webhookId);
  const { webhook_id } = row;
  requireChange(change);
  checkInput(deps, change);
  if (change.authorization) await requireKey(deps);
  const { authorization, events } = change;
  const url = change.url && toAddress(change.url);
  const hasNewDestination = change.url !== undefined || authorization !== undefined;
  if (hasNewDestination && verify !== false) {
    const present = openSecrets(deps, row);
    const target = {
      webhook_id,
      url: url ?? row.url,
      knowsSecret: url === undefined,
      signing: present.signing,
      authorization: authorization === undefined ? present.authorization : authorization,
    };
    await sendTestEvent(deps, target, overrides);
  }
  const changed = await updateWebhook(deps.db, webhook_id, {
    ...(url !== undefined && { url }),
    ...(authorization !== undefined && { authorization_value: toStored(authorization, deps.config) }),
    ...(events !== undefined && { event_types: toEventTypes(events) }),
    ...(hasNewDestination && WITHOUT_FAILURES),
  });
  if (!changed) throw noSuchWebhook(webhook_id);
  // If this is interrupted, the same change can be made again.
  if (hasNewDestination) {
    await inTransaction(deps.db, (trx) => revokeClaims(trx, webhook_id, deps.now()));
    await makeAllPendingDue(deps, webhook_id);
  }
  return changed;
}
