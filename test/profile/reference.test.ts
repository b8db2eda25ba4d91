// docs/profile-object.md and docs/events.md show what the service really answers and reports: the life of one profile,
// in both shapes. `npm run docs` writes them again.
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

What every server-side operation answers: \`POST|GET|PATCH /api/v2/server-side-api/profile/\`, grant, revoke and set transaction.
This profile bought \`monthly\`, renewed it at a win-back price and then switched its renewal off; bought \`gems\`; bought \`yearly\`
and got its money back; was granted \`vip\` and \`premium\`, and both grants were revoked. \`premium\` is still there: the
subscription gives it.

**An access level is open** while \`starts_at\`, or where it is null \`purchased_at\`, is not after now, and \`expires_at\` is null or after now. Levels that have
ended and that begin later are listed, too: that a level is there says nothing. In a grace period \`expires_at\` is its end, after a refund
the moment of it; \`environment\` tells access that a sandbox purchase opens. Compare with the clock whenever
access is checked: of a grant that ends by its date no event tells.

This file is made of real answers by a test; ids and the time of the request are replaced.

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

What webhooks are told and the event feed shows. \`sps webhook add --events a,b\` chooses types, \`sps webhook change\` others; the default is all. Nothing
is written while an app has no endpoint or all of them are disabled, and importing history tells nothing. The end of a subscription
that was set over HTTP is told when it comes, also where an import brought it forward.

| type | when |
|---|---|
${rows.join('\n')}

- A transaction is told by what it adds to what was known of its chain: the same transaction again tells nothing.
- Billing issues, grace periods, cancelled renewals and refunds are told when a transaction first has them. A transaction
  that begins with several of them tells each.
- \`access_level_updated\` follows when the profile shows one of its levels differently: other dates, another source, active or
  not. It describes what serves the level now; after a grant or a revoke, that grant.
- \`subscription_expired\` and \`trial_expired\` come once for each lapse, of subscriptions that were set over HTTP. These lapse as in
  charts: at the end of the period or of its grace, or with the refund. It is told within about a second; where the lapse was past
  when it was set, as a refund's is, within about three, as a renewal may follow and take it back. The events of one that follows
  and does not take it back come first: go by \`event_datetime\` and \`profile_has_access_level\`. A grant that ends by its date tells nothing.
- \`event_datetime\` is the moment at which charts count it: of a purchase \`purchased_at\`, of a refund \`refunded_at\`. That of
  \`billing_issue_detected\` is always \`billing_issue_detected_at\`; with a grace period charts count it at the end of that. That of
  \`subscription_renewal_cancelled\` without \`renew_status_changed_at\` is the moment of the request; charts do not count it. Of
  \`access_level_updated\` it is the moment of the change, or, where time alone changed the access, the date at which it did.
- Sandbox and family-shared transactions are told too; \`environment\` and \`is_family_shared\` say so.

## Receiving them

- Answer 2xx within 10 s; a redirect, another status or a late answer is a failure, and the delivery is tried again (README, Webhooks).
  A \`Retry-After\` of up to an hour is kept to.
- Delivery is at least once, in order per profile and webhook: pass over a \`webhook-id\` that you have had. Check the signature and
  the time ([receiver](examples/webhook-receiver.js)).
- A 410 suspends the webhook at once; so do five days of nothing but failures, with ten of them or more. \`sps webhook list\` shows it. Its events
  wait until \`sps webhook resume\`, which also sends at once what waits for its next attempt, when a receiver is well again.
- A delivery that failed ten times is dead: \`sps webhook replay $WEBHOOK --since 2026-01-15T10:30:00Z\` sends those of events from then on again.
- \`sps webhook add\`, \`sps webhook change\` to another address or Authorization value, and \`sps webhook test\` send an event of the type \`test\`, with
  \`webhook_id\` among its properties and no profile. It must be answered 2xx, too (\`--no-verify\` leaves it out), and is not in the feed.

Some members have other names than in requests:

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

All types but \`access_level_updated\`. \`price_local\` is in \`currency\`; the other amounts are in USD.

${block(payloadOf('subscription_renewed'))}

## An access level

${block(payloadOf('access_level_updated'))}
`;
  await expect(text).toMatchFileSnapshot('../../docs/events.md');
});
