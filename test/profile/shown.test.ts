// Reading a profile without the purchases that it does not show (src/profile/read-state.ts): whatever was bought, the
// object is the same as with all of them, at the requested moment and later.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromDatabase } from '../../src/lib/datetime.ts';
import { renderProfile } from '../../src/profile/object.ts';
import { readShownSince, readShownState, readShownStates } from '../../src/profile/read-state.ts';
import type { ProfileState } from '../../src/profile/state.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel, addProduct, addProfile, addPurchase } from '../setup/world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  for (const level of ['premium', 'coins']) await addAccessLevel(service, level);
  await addProduct(service, 'monthly', { access_level_id: 'premium' });
  await addProduct(service, 'yearly', { access_level_id: 'premium', duration: 'Annual' });
  await addProduct(service, 'monthly', { store: 'play_store', access_level_id: 'coins' });
  await addProduct(service, 'pack', { access_level_id: 'coins', duration: 'Lifetime' });
});
afterAll(() => service.close());

const DAY_MS = 86_400_000;
const START = Date.now();

function dayFromNow(days: number): string {
  return new Date(START + days * DAY_MS).toISOString();
}

const days = fc.integer({ min: -14, max: 4 });
const day = days.map(dayFromNow);
const rarely = fc.option(day, { freq: 1 });

/** Ends after it begins, as the rules of the records demand. */
const period = fc
  .record({ from: days, length: fc.option(fc.integer({ min: 1, max: 12 }), { freq: 9 }) })
  .map(({ from, length }) => ({
    purchased_at: dayFromNow(from),
    expires_at: length === null ? null : dayFromNow(from + length),
  }));

const purchase = fc.record({
  purchase_type: fc.constantFrom('subscription', 'subscription', 'subscription', 'one_time_purchase'),
  environment: fc.constantFrom('Production', 'Production', 'Sandbox'),
  is_family_shared: fc.boolean(),
  store: fc.constantFrom('app_store', 'app_store', 'play_store'),
  store_product_id: fc.constantFrom('monthly', 'monthly', 'yearly', 'pack', 'unknown'),
  period,
  grace_period_expires_at: rarely,
  refunded_at: rarely,
  revenue_nano: fc.bigInt({ min: 0n, max: 10n ** 11n }),
});

function renderAt(state: ProfileState, read_at: string) {
  return (['dictionary', 'array'] as const).map((profile_shape) =>
    renderProfile({ ...state, read_at }, { profile_shape }),
  );
}

test('the object is the same with and without the purchases that it does not show', async () => {
  const { db } = service.database;
  let leftOut = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(purchase, { minLength: 2, maxLength: 16 }), async (bought) => {
      const profileId = await addProfile(service, null);
      for (const { period, ...one } of bought) await addPurchase(service, profileId, { ...one, ...period });
      const key = { app_id: service.appId, profile_id: profileId };
      const whole = await readShownSince(db, key, '-infinity');
      expect(whole.purchases).toHaveLength(bought.length);
      const shown = await readShownState(db, key);
      leftOut += whole.purchases.length - shown.purchases.length;
      expect(shown.read_at >= whole.read_at).toBe(true);
      const later = [shown.read_at, ...[0.5, 1.5, 3.5, 7].map(dayFromNow)];
      for (const at of later) expect(renderAt(shown, at)).toEqual(renderAt(whole, at));
      const shownSince = await readShownSince(db, key, dayFromNow(-6.5));
      for (const at of [...[-6.5, -3.5, -0.5].map(dayFromNow), ...later]) {
        expect(renderAt(shownSince, at)).toEqual(renderAt(whole, at));
      }
    }),
    { numRuns: 150 },
  );
  expect(leftOut).toBeGreaterThan(50);
});

test('purchases that are not shown still count as revenue', async () => {
  const profileId = await addProfile(service, null);
  for (const month of ['01', '02', '03']) {
    const period = { purchased_at: `2025-${month}-01T00:00:00Z`, expires_at: `2025-${month}-28T00:00:00Z` };
    await addPurchase(service, profileId, { ...period, store_original_transaction_id: 'chain' });
  }
  const shown = await readShownState(service.database.db, { app_id: service.appId, profile_id: profileId });
  expect(shown.purchases.map(({ purchased_at }) => fromDatabase(purchased_at))).toEqual([
    '2025-03-01T00:00:00.000000Z',
  ]);
  expect(shown.past_revenue_nano).toBe('20000000000');
  const [object] = renderAt(shown, shown.read_at);
  expect(object?.total_revenue_usd).toBe(30);
});

test('profiles are read in the order in which they are named', async () => {
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push(await addProfile(service, null));
  const states = await readShownStates(
    service.database.db,
    ids.map((profile_id) => ({ app_id: service.appId, profile_id })),
  );
  expect(states.map(({ profile_id }) => profile_id)).toEqual(ids);
});
