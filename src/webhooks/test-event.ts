// The test event that an endpoint must answer with 2xx when it is added, changed or tested.
import { randomUUID } from 'node:crypto';
import type { Deps } from '../deps.ts';
import { timestampOf, toDatabase, toWire } from '../lib/datetime.ts';
import { OperatorError } from '../operator-error.ts';
import { type Attempt, createSender, type SenderOverrides } from './delivery.ts';
import { policyOf } from './destinations.ts';
import { EVENT_API_VERSION } from './events.ts';
import { isDelivered } from './outcome.ts';

export interface TestTarget {
  webhook_id: string;
  url: string;
  authorization: string | null;
  signing: readonly string[];
  /** Whether the receiver should know the secret. */
  knowsSecret: boolean;
}

const HINT =
  'If the receiver refuses messages that it cannot verify, it may not know the secret of the webhook yet. Use --no-verify, give the receiver the secret, then run `sps webhook test`.';

/** The statuses with which receivers refuse a message that they cannot verify. */
const UNVERIFIED: readonly (number | null)[] = [400, 401, 403, 422];

/** Sends a test event, bypassing the queue and the feed. Throws an OperatorError unless the response is 2xx. */
export async function sendTestEvent(
  { config, now }: Pick<Deps, 'config' | 'now'>,
  { webhook_id, url, authorization, signing, knowsSecret }: TestTarget,
  { resolve, deadlineMs }: SenderOverrides,
): Promise<Attempt> {
  const sender = createSender({ policy: policyOf(config), now, resolve, deadlineMs });
  const id = randomUUID();
  const body = JSON.stringify({
    event_type: 'test',
    event_datetime: toWire(toDatabase(timestampOf(now()))),
    event_api_version: EVENT_API_VERSION,
    event_properties: { profile_event_id: id, webhook_id },
  });
  const attempt = await sender.send({ url, authorization, secrets: signing, id, body });
  await sender.close();
  if (isDelivered(attempt)) return attempt;
  const { status, error, response } = attempt;
  const answered =
    status === null ? '' : `the receiver answered ${status}${response ? ` (${response.slice(0, 200)})` : ''}`;
  const reasons = [answered, error].filter(Boolean).join(', ');
  throw new OperatorError(
    `The test event was not accepted: ${reasons}.${!knowsSecret && UNVERIFIED.includes(status) ? `\n${HINT}` : ''}`,
  );
}
