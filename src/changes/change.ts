// The transaction around an operation that changes one profile and notifies webhooks. It locks the profile, does the
// work, and stores the events and, if the request has an Idempotency-Key, the response.
import type { Kysely, Transaction } from 'kysely';
import { overlapping } from '../db/overlap.ts';
import { inTransaction } from '../db/transactions.ts';
import type { DB } from '../db/types.ts';
import type { App, Deps } from '../deps.ts';
import { apiError, valueError } from '../errors.ts';
import { raiseVersion } from '../facts/version.ts';
import { IDEMPOTENCY_KEY, type Once } from '../http/idempotency.ts';
import type { ProfileIdentity } from '../profile/identity.ts';
import { renderProfile } from '../profile/object.ts';
import { findProfile, lockKeepingPlans, lockProfile } from '../profile/queries.ts';
import type { ProfileState } from '../profile/state.ts';
import type { WebhookEvent } from '../webhooks/events.ts';
import { nudgeDispatchers } from '../webhooks/nudge.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { findKeptResponse, type IdempotencyKey, keepResponse, takeKey } from './kept-responses.ts';

export interface ChangeRequest {
  app: App;
  identity: ProfileIdentity;
  /** Set if the request carries an Idempotency-Key. */
  idempotency: Once | undefined;
}

export interface Changed {
  /** The profile as it is after the change. */
  state: ProfileState;
  events: readonly WebhookEvent[];
  /** Writes anything else, alongside the events. */
  alsoWrite?: (trx: Kysely<DB>) => Promise<void>;
}

/** `First` is the type of what `lockFirst` returns. */
export interface Change<First = undefined> {
  operation: IdempotencyKey['operation'];
  /** Takes locks that must be acquired before the profile's. */
  lockFirst?: (trx: Kysely<DB>) => Promise<First>;
  /** Set if the change may alter charts. */
  changesFacts?: true;
  /** Makes the change while the profile is locked. */
  work: (trx: Kysely<DB>, profileId: string, first: First) => Promise<Changed>;
}

interface Committed {
  /** The response body, as JSON. */
  response: string;
  /** How many events were stored. */
  stored: number;
}

/** Keeps the response, to return it again if the request is repeated. */
type Keep = (trx: Kysely<DB>, response: string) => Promise<void>;

/** Returns the response body that shows the profile, as JSON. */
export function renderResponse(state: ProfileState, app: App): string {
  return JSON.stringify({ data: renderProfile(state, app) });
}

async function runChange<First>(
  trx: Kysely<DB>,
  { app, identity }: Omit<ChangeRequest, 'idempotency'>,
  { change, lock = lockProfile, keep }: { change: Change<First>; lock?: typeof lockProfile; keep?: Keep },
): Promise<Committed> {
  const first = (await change.lockFirst?.(trx)) as First;
  const profileId = await lockKeepingPlans(trx, lock, { app, identity });
  const { state, events, alsoWrite } = await change.work(trx, profileId, first);
  const response = renderResponse(state, app);
  const [stored] = await overlapping(trx, (each) => [
    recordEvents(each, events),
    alsoWrite?.(each),
    keep?.(each, response),
    change.changesFacts && raiseVersion(each, app.app_key),
  ]);
  return { response, stored };
}

/** Returns the response kept under the key, or else does the work and keeps its response. */
async function runOnce<First>(
  trx: Transaction<DB>,
  request: ChangeRequest & { idempotency: Once },
  { change, now }: { change: Change<First>; now: Date },
): Promise<Committed> {
  const { app, identity, idempotency } = request;
  const profileId = await findProfile(trx, app.app_id, identity);
  if (profileId === undefined) throw apiError('profile_not_found');
  const key = {
    app_id: app.app_id,
    profile_id: profileId,
    operation: change.operation,
    idempotency_key: idempotency.key,
  };
  if (!(await takeKey(trx, key))) throw apiError('idempotency_in_flight');
  const kept = await findKeptResponse(trx, key, now);
  if (kept && !kept.body_sha256.equals(idempotency.body_sha256)) {
    throw valueError(IDEMPOTENCY_KEY, 'This key was already used with a different body.');
  }
  if (kept) return { response: kept.response, stored: 0 };
  return runChange(trx, request, {
    change,
    // Locks the profile that the key was taken for, or none: until then, it may have been deleted or renamed.
    lock: (each, appId) => lockProfile(each, appId, { ...identity, profile_id: profileId }),
    keep: (each, response) => keepResponse(each, { ...key, body_sha256: idempotency.body_sha256, response }, now),
  });
}

/** Changes the profile that the request names and returns the response body, as JSON. */
export async function changeProfile<First = undefined>(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  request: ChangeRequest,
  change: Change<First>,
): Promise<string> {
  const { idempotency } = request;
  const { response, stored } = await inTransaction(db, (trx) =>
    idempotency
      ? runOnce(trx, { ...request, idempotency }, { change, now: now() })
      : runChange(trx, request, { change }),
  );
  if (stored > 0) nudgeDispatchers(db);
  return response;
}
