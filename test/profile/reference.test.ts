// Checks docs/profile-object.md and docs/events.md against what the service returns and sends for one profile's life, in
// both shapes. `npm run docs` rewrites them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../src/webhooks/catalogue.ts';
import { grant, revoke } from '../grants/world.ts';
import { addEndpoint, listEvents, oneTime, period, setTransaction } from '../purchases/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { createProfile, readProfile } from './world.ts';

const services: TestService[] = [];
afterAll(async () => {
  for (const service of services) await service.close();
});

const customer = 'user-1';
const headers = { 'service-customer-user-id': customer };

/** Takes a profile through purchases, grants, a refund and revocations. */
async function createFullHistory(shape: 'dictionary' | 'array') {
  const service = await startService({ app: { name: 'Reference', profile_shape: shape } });
  services.push(service);
  for (const level of ['premium', 'vip']) await addAccessLevel(service, level);
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
  await addProduct(service, 'yearly', { store: 'play_store', access_level_id: 'premium', duration: 'Annual' });
  await addProduct(service, 'gems', { is_consumable: true, duration: 'Lifetime' });
  await addEndpoint(service);
  const { json } = await createProfile(
    service,
    { customer },
    { country: 'DE', installed_at: '2025-01-01T09:00:00Z', custom_attributes: { plan: 'gold', rating: 4.5 } },
  );
  const attribution = { status: 'non_organic', channel: 'social', campaign: 'spring', attribution_user_id: 'click-1' };
  await service.call('POST', '/api/v2/web-api/attribution/', {
    key: service.publicKey,
    body: { ...attribution, customer_user_id: customer },
  });
  const set = (body: unknown) => setTransaction(service, customer, body);
  await set(period());
  const next = { store_transaction_id: 't2', purchased_at: '2025-03-01T00:00:00Z', expires_at: '2090-01-01T00:00:00Z' };
  const offer = { category: 'win_back', type: 'pay_as_you_go', id: 'come-back' };
  const cancelled = { renew_status: false, renew_status_changed_at: '2025-03-05T12:30:00.5Z' };
  await set(
    period({ ...next, price: { country: 'DE', currency: 'EUR', value: 7.99, value_usd: 8.5 }, offer, ...cancelled }),
  );
  await set(oneTime());
  await grant(service, { access_level_id: 'vip', expires_at: '2089-01-01T00:00:00Z' }, headers);
  const yearly = {
    store: 'play_store',
    store_product_id: 'yearly',
    store_transaction_id: 'y1',
    store_original_transaction_id: 'y1',
    price: { country: 'DE', currency: 'USD', value: 60 },
    expires_at: '2026-02-01T00:00:00Z',
  };
  await set(period({ ...yearly, refunded_at: '2025-02-02T08:00:00Z', cancellation_reason: 'refund' }));
  await grant(service, { access_level_id: 'premium' }, headers);
  await revoke(service, { access_level_id: 'premium' }, headers);
  await revoke(service, { access_level_id: 'vip' }, headers);
  return { service, profileId: json.data.profile_id as string };
}

const UUIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Prints JSON in which ids and today's dates are the same in every run. */
function withStableIds(value: unknown): string {
  const ids = new Map<string, string>();
  const today = new Date().toISOString().slice(0, 8);
  return JSON.stringify(value, null, 2)
    .replaceAll(UUIDS, (id) => {
      const known = ids.get(id) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`;
      ids.set(id, known);
      return known;
    })
    .replaceAll(new RegExp(`"${today}\\d\\dT[^"]*"`, 'g'), '"2026-01-15T10:30:00.000000+0000"')
    .replace(/"timestamp": \d+/, '"timestamp": 1768473000000');
}

let dictionary: Awaited<ReturnType<typeof createFullHistory>>;
let array: Awaited<ReturnType<typeof createFullHistory>>;
beforeAll(async () => {
  dictionary = await createFullHistory('dictionary');
  array = await createFullHistory('array');
});

const block = (json: string) => `\`\`\`json\n${json}\n\`\`\``;

test('docs/profile-object.md shows the profile in both shapes', async () => {
  const shown = await Promise.all(
    [dictionary, array].map(async ({ service }) => withStableIds((await readProfile(service, { customer })).json)),
  );
  const text = `# The profile object

Every server-side operation except the deletion of a profile returns it: \`POST|GET|PATCH /api/v2/server-side-api/profile/\`, grant,
revoke and set transaction.

## The example

The profile in the examples below

- bought \`monthly\`, renewed it at a win-back price and then switched its renewal off;
- bought \`gems\`;
- bought \`yearly\` and had it refunded;
- was granted \`vip\` and \`premium\`, and both grants were revoked. \`premium\` is still there because the subscription provides it.

A test writes this file from real responses; only ids and the time of the request are replaced.

## When an access level is open

An access level is open while both of these hold:

- \`starts_at\`, or \`purchased_at\` if \`starts_at\` is null, is not in the future;
- \`expires_at\` is null or in the future.

Compare with the clock whenever you check access, because no event is sent when a grant ends by its date. The presence of a level proves
nothing: levels that have ended or begin later are listed, too. In a grace period \`expires_at\` is the end of that period, and after a refund
it is the moment of the refund. \`environment\` identifies access that a sandbox purchase opens.

## Dictionary (default)

${block(shown[0] as string)}

## Array (\`--profile-shape array\`)

${block(shown[1] as string)}
`;
  await expect(text).toMatchFileSnapshot('../../docs/profile-object.md');
});

test('docs/events.md has every type, and a payload of each kind', async () => {
  const events = await listEvents(dictionary.service, dictionary.profileId);
  const payloadOf = (type: string) => withStableIds(events.find(({ event_type }) => event_type === type)?.payload);
  const rows = Object.entries(EVENT_TYPES).map(([type, words]) => `| \`${type}\` | ${words} |`);
  const text = `# Events

Webhooks deliver these events, and the event feed lists them. \`sps webhook add --events a,b\` chooses the types a webhook receives;
\`sps webhook change\` chooses others. The default is all types.

No event is written while an app has no webhook or all of them are disabled, and importing history writes none. The end of a subscription
that was set over HTTP is reported when it comes, even if an import brought it forward.

| type | when |
|---|---|
${rows.join('\n')}

## What each event means

### Transactions

- An event reports what a transaction adds to what was known of its chain. Sending the same transaction again causes no event.
- Billing issues, grace periods, cancelled renewals and refunds are reported when a transaction first has them. A transaction that begins
  with several of them causes an event for each.
- Sandbox and family-shared transactions cause events too; \`environment\` and \`is_family_shared\` identify them.

### Access levels

- \`access_level_updated\` is sent when the profile shows one of its levels differently: other dates, another source, active or not.
- It describes what now provides the level; after a grant or a revoke, that grant.
- A grant that ends by its date causes no event.

### Lapses

- \`subscription_expired\` and \`trial_expired\` are sent once for each lapse of a subscription that was set over HTTP.
- A subscription lapses as it does in charts: at the end of its period or grace period, or with the refund.
- The event follows within about a second. If a transaction is set after its subscription has lapsed, or with a refund, the event follows
  within about three seconds, because a renewal may still arrive and take the lapse back.
- If another transaction arrives within these seconds and does not take the lapse back, its events come before that of the lapse. Go by
  \`event_datetime\` and \`profile_has_access_level\`.

### \`event_datetime\`

It is the moment at which charts count the event: \`purchased_at\` for a purchase, \`refunded_at\` for a refund. The exceptions:

- For \`billing_issue_detected\` it is always \`billing_issue_detected_at\`. If there is a grace period, charts count the issue at the end of it.
- For \`subscription_renewal_cancelled\` without \`renew_status_changed_at\` it is the moment of the request. Charts do not count that event.
- For \`access_level_updated\` it is the moment of the change. If time alone changed the access, it is the date at which that happened.

## Receiving them

- **Answer 2xx within 10 s.** A redirect, another status or a late response is a failure, and the delivery is [retried](../README.md#webhooks).
  A \`Retry-After\` of up to an hour is respected.
- **Certificates** are verified. If a private authority issued that of your receiver, name the authority's PEM file in \`NODE_EXTRA_CA_CERTS\`
  for the service and for \`sps\`. A self-signed certificate can be its own authority.
- **De-duplicate.** Delivery is at least once, in order per profile and webhook: ignore a \`webhook-id\` that you have already received.
- **Verify** the signature and the time ([receiver](examples/webhook-receiver.js)).
- **Suspension.** A 410 suspends the webhook immediately; so do five days with nothing but failures, at least ten of them. \`sps webhook list\`
  shows it. The webhook's events wait until \`sps webhook resume\`. Run it, too, once a receiver has recovered: it sends
  pending deliveries without waiting for their next attempt.
- **Dead deliveries.** A delivery that failed ten times is dead. \`sps webhook replay $WEBHOOK --since 2026-01-15T10:30:00Z\` resends the
  dead deliveries of events from that time on.
- **Test events.** \`sps webhook add\`, \`sps webhook change\` to another address or Authorization value, and \`sps webhook test\` send an event of
  type \`test\`, with \`webhook_id\` among its properties and no profile. It too must be answered 2xx, and is not in the feed.
  \`--no-verify\` skips it: add a receiver that checks signatures with this option, because it cannot know the secret yet; then give it the
  secret and run \`sps webhook test\`.

## Names that differ from requests

| in events | in requests |
|---|---|
| \`vendor_product_id\` | \`store_product_id\` |
| \`base_plan_id\` | \`store_base_plan_id\` |
| \`transaction_id\` | \`store_transaction_id\` |
| \`original_transaction_id\` | \`store_original_transaction_id\` |
| \`will_renew\` | \`renew_status\` |
| \`user_attributes\` | \`custom_attributes\` |
| \`network_user_id\` of an attribution | \`attribution_user_id\` |

## A transaction

Every type except \`access_level_updated\`. \`price_local\` is in \`currency\`; the other amounts are in USD.

${block(payloadOf('subscription_renewed'))}

## An access level

${block(payloadOf('access_level_updated'))}
`;
  await expect(text).toMatchFileSnapshot('../../docs/events.md');
});
