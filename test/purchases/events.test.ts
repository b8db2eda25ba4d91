// The events of set transaction and revoke, as they are reported to the app's webhooks.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grant, revoke } from '../grants/world.ts';
import { createProfile } from '../profile/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct } from '../setup/world.ts';
import { addEndpoint, listEvents, oneTime, period, setTransaction, trial } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await addAccessLevel(service, 'premium');
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
  // Another store's product of the same name does not matter.
  await addProduct(service, 'monthly', { store: 'play_store', duration: 'Annual' });
  await addProduct(service, 'forever', { access_level_id: 'premium', duration: 'Lifetime' });
  await addEndpoint(service);
});
afterAll(() => service.close());

const FUTURE = '2099-01-01T00:00:00Z';
const REFUND = { refunded_at: '2025-03-06T00:00:00Z', cancellation_reason: 'refund' };

interface Ids {
  store_transaction_id: string;
  store_original_transaction_id: string;
}

/** Creates a profile with a chain of its own; `set` returns the events that the transaction caused. */
async function createCustomer(customer: string) {
  const { json } = await createProfile(service, { customer }, { custom_attributes: { plan: 'gold' } });
  const profileId: string = json.data.profile_id;
  let known = 0;

  async function news() {
    const events = await listEvents(service, profileId);
    const later = events.slice(known);
    known = events.length;
    return later;
  }

  async function set(body: Ids) {
    const { status } = await setTransaction(service, customer, {
      ...body,
      store_transaction_id: `${customer}-${body.store_transaction_id}`,
      store_original_transaction_id: `${customer}-${body.store_original_transaction_id}`,
    });
    expect(status).toBe(200);
    return news();
  }

  return {
    profileId,
    headers: { 'service-customer-user-id': customer },
    news,
    set,
    types: async (body: Ids) => (await set(body)).map(({ event_type }) => event_type),
  };
}

test('the life of a subscription is reported from its trial to its refund', async () => {
  const { types } = await createCustomer('anna');
  const march = { store_transaction_id: 't2', purchased_at: '2025-03-01T00:00:00Z', expires_at: FUTURE };
  const cancelled = { ...march, renew_status: false, renew_status_changed_at: '2025-03-05T00:00:00Z' };
  expect(await types(trial())).toEqual(['trial_started', 'access_level_updated']);
  expect(await types(period())).toEqual(['trial_converted', 'access_level_updated']);
  expect(await types(period(march))).toEqual(['subscription_renewed', 'access_level_updated']);
  expect(await types(period(cancelled))).toEqual(['subscription_renewal_cancelled', 'access_level_updated']);
  expect(await types(period({ ...march, ...REFUND }))).toEqual(['subscription_refunded', 'access_level_updated']);
});

test('a repeat or a new paywall reports nothing, and a billing issue with a grace period reports a change of access', async () => {
  const { types } = await createCustomer('bert');
  expect(await types(period())).toEqual(['subscription_started', 'access_level_updated']);
  expect(await types(period())).toEqual([]);
  expect(await types(period({ paywall_id: 'pw' }))).toEqual([]);
  const issue = { billing_issue_detected_at: '2025-02-27T00:00:00Z', grace_period_expires_at: FUTURE };
  expect(await types(period(issue))).toEqual([
    'billing_issue_detected',
    'entered_grace_period',
    'access_level_updated',
  ]);
});

test('one-time purchases are reported; a product without a level changes no access', async () => {
  const { types } = await createCustomer('carl');
  expect(await types(oneTime())).toEqual(['non_subscription_purchase']);
  expect(await types(oneTime(REFUND))).toEqual(['non_subscription_purchase_refunded']);
});

test('a one-time purchase is described without members of a subscription, and empty texts as none', async () => {
  const { set } = await createCustomer('otto');
  const [bought] = await set(
    oneTime({
      originally_purchased_at: '2025-02-01T00:00:00Z',
      expires_at: FUTURE,
      renew_status: true,
      renew_status_changed_at: '2025-02-11T00:00:00Z',
      billing_issue_detected_at: '2025-02-12T00:00:00Z',
      grace_period_expires_at: '2099-02-01T00:00:00Z',
      offer: { category: 'introductory', type: 'pay_up_front', id: '' },
      ...{ store_base_plan_id: '', paywall_id: '', audience_id: '', placement_id: '', variation_id: '' },
    }),
  );
  expect(bought?.payload.event_properties).toMatchObject({
    originally_purchased_at: '2025-02-10T00:00:00.000000+0000',
    expires_at: null,
    will_renew: false,
    renew_status_changed_at: null,
    billing_issue_detected_at: null,
    grace_period_expires_at: null,
    offer_id: null,
    base_plan_id: null,
    paywall_id: null,
    audience_id: null,
    placement_id: null,
    variation_id: null,
  });
});

test('a payload describes the profile and the transaction completely', async () => {
  const { profileId, set } = await createCustomer('dora');
  const offer = { category: 'win_back', type: 'pay_as_you_go', id: 'back' };
  const price = { country: 'de', currency: 'EUR', value: 9.99, value_usd: 10.5, proceeds_usd: 8, tax_usd: 1.25 };
  const [started, access] = await set(
    period({
      store_base_plan_id: 'base',
      expires_at: FUTURE,
      offer,
      price,
      paywall_id: 'pw',
      audience_id: 'au',
      placement_id: 'pl',
      variation_id: 'va',
    }),
  );
  const common = {
    event_api_version: 1,
    profile_id: profileId,
    customer_user_id: 'dora',
    profile_install_datetime: expect.stringMatching(/\+0000$/),
    attributions: {},
    user_attributes: { plan: 'gold' },
  };
  const totals = { profile_has_access_level: true, profile_total_revenue_usd: 10.5 };
  expect(started?.payload).toEqual({
    ...common,
    event_type: 'subscription_started',
    event_datetime: '2025-02-01T00:00:00.000000+0000',
    event_properties: {
      profile_event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      store: 'app_store',
      environment: 'Production',
      vendor_product_id: 'monthly',
      base_plan_id: 'base',
      transaction_id: 'dora-t1',
      original_transaction_id: 'dora-c1',
      period: 'activation',
      is_family_shared: false,
      purchased_at: '2025-02-01T00:00:00.000000+0000',
      originally_purchased_at: '2025-02-01T00:00:00.000000+0000',
      expires_at: '2099-01-01T00:00:00.000000+0000',
      will_renew: true,
      renew_status_changed_at: null,
      billing_issue_detected_at: null,
      grace_period_expires_at: null,
      refunded_at: null,
      cancellation_reason: null,
      offer_category: 'win_back',
      offer_type: 'pay_as_you_go',
      offer_id: 'back',
      paywall_id: 'pw',
      audience_id: 'au',
      placement_id: 'pl',
      variation_id: 'va',
      store_country: 'DE',
      currency: 'EUR',
      price_local: 9.99,
      price_usd: 10.5,
      proceeds_usd: 8,
      net_revenue_usd: 6.75,
      ...totals,
    },
  });
  expect(access?.payload).toEqual({
    ...common,
    event_type: 'access_level_updated',
    event_datetime: expect.stringMatching(/\+0000$/),
    event_properties: {
      profile_event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      access_level_id: 'premium',
      is_active: true,
      is_lifetime: false,
      is_refund: false,
      is_in_grace_period: false,
      will_renew: true,
      activated_at: '2025-02-01T00:00:00.000000+0000',
      renewed_at: '2025-02-01T00:00:00.000000+0000',
      starts_at: null,
      expires_at: '2099-01-01T00:00:00.000000+0000',
      store: 'app_store',
      vendor_product_id: 'monthly',
      transaction_id: 'dora-t1',
      original_transaction_id: 'dora-c1',
      environment: 'Production',
      cancellation_reason: null,
      ...totals,
    },
  });
});

test('access that a renewal gives was activated by the first transaction of its chain', async () => {
  const { set } = await createCustomer('dirk');
  await set(period());
  const renewal = { store_transaction_id: 't2', purchased_at: '2025-03-01T00:00:00Z', expires_at: FUTURE };
  const [, access] = await set(period(renewal));
  expect(access?.payload.event_properties).toMatchObject({
    activated_at: '2025-02-01T00:00:00.000000+0000',
    renewed_at: '2025-03-01T00:00:00.000000+0000',
    transaction_id: 'dirk-t2',
    original_transaction_id: 'dirk-c1',
  });
});

test('access for life is activated by its purchase, ends never, and does not renew', async () => {
  const { set } = await createCustomer('dina');
  const [, access] = await set(oneTime({ store_product_id: 'forever' }));
  expect(access?.payload.event_properties).toMatchObject({
    is_active: true,
    is_lifetime: true,
    will_renew: false,
    activated_at: '2025-02-10T00:00:00.000000+0000',
    renewed_at: '2025-02-10T00:00:00.000000+0000',
    expires_at: null,
    vendor_product_id: 'forever',
    transaction_id: 'dina-o1',
  });
});

test('a refund ends the access that its event reports', async () => {
  const { set } = await createCustomer('emil');
  await set(period({ expires_at: FUTURE }));
  const [, access] = await set(period({ expires_at: FUTURE, ...REFUND }));
  expect(access?.payload.event_properties).toMatchObject({
    is_active: false,
    is_refund: true,
    expires_at: '2025-03-06T00:00:00.000000+0000',
    cancellation_reason: 'refund',
    profile_has_access_level: false,
    profile_total_revenue_usd: 0,
  });
});

test('sandbox transactions are reported as such', async () => {
  const { set } = await createCustomer('fred');
  const [started] = await set(period({ environment: 'Sandbox' }));
  expect(started?.event_type).toBe('subscription_started');
  expect(started?.payload.event_properties).toMatchObject({ environment: 'Sandbox', profile_total_revenue_usd: 0 });
});

test.each([
  ['sara', { is_family_shared: true }],
  ['sven', { environment: 'Sandbox' }],
])('in the chain of %s, %j is reported once, and neither continues nor ends what counts', async (customer, kind) => {
  const { types, set } = await createCustomer(customer);
  await set(period({ expires_at: FUTURE }));
  const copy = { store_transaction_id: 't2', purchased_at: '2025-02-10T00:00:00Z', expires_at: FUTURE };
  expect(await types(period({ ...copy, ...kind }))).toEqual(['subscription_started', 'access_level_updated']);
  expect(await types(period({ expires_at: FUTURE, renew_status: false }))).toEqual(['subscription_renewal_cancelled']);
});

test('a purchase that gives less than a grant changes no access', async () => {
  const { headers, types, news } = await createCustomer('gina');
  await grant(service, { access_level_id: 'premium' }, headers);
  expect((await news()).map(({ event_type }) => event_type)).toEqual(['access_level_updated']);
  expect(await types(period({ expires_at: FUTURE }))).toEqual(['subscription_started']);
});

test('a revoke reports the grant that ended, whatever a purchase gives', async () => {
  const { headers, set, news } = await createCustomer('hans');
  await set(period({ expires_at: FUTURE }));
  await grant(service, { access_level_id: 'premium', expires_at: FUTURE }, headers);
  await news();
  const { json } = await revoke(service, { access_level_id: 'premium' }, headers);
  expect(json.data.access_levels.premium.store).toBe('app_store');
  const [ended, ...others] = await news();
  expect(others).toEqual([]);
  expect(ended?.event_type).toBe('access_level_updated');
  expect(ended?.payload.event_properties).toMatchObject({
    access_level_id: 'premium',
    store: 'service',
    is_active: false,
    is_lifetime: false,
    profile_has_access_level: true,
    profile_total_revenue_usd: 10,
  });
  expect(ended?.payload.event_datetime).toBe(ended?.payload.event_properties.expires_at);
});

test('a refused request reports nothing', async () => {
  const { headers, news } = await createCustomer('ida');
  expect((await setTransaction(service, headers, period({ store: '' }))).status).toBe(400);
  expect((await revoke(service, { access_level_id: 'premium' }, headers)).status).toBe(400);
  expect(await news()).toEqual([]);
});
