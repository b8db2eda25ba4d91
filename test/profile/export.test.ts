// Exporting a profile: whose it may be, which moment it shows, and what is left out. test/cli/profile-export.test.ts has
// the command.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { exportProfile } from '../../src/profile/export.ts';
import type { ProfileIdentity } from '../../src/profile/identity.ts';
import { grant } from '../grants/world.ts';
import { addEndpoint, oneTime, setTransaction } from '../purchases/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { addAccessLevel } from '../setup/world.ts';
import { createProfile } from './world.ts';

let service: TestService;
let profileId: string;
beforeAll(async () => {
  service = await startService();
  for (const level of ['gold', 'premium']) await addAccessLevel(service, level);
  await addEndpoint(service);
  profileId = (await createProfile(service, { customer: 'anna' })).json.data.profile_id;
  await setTransaction(service, 'anna', oneTime());
  const headers = { 'service-customer-user-id': 'anna', 'idempotency-key': 'once' };
  await grant(service, { access_level_id: 'gold' }, headers);
});
afterAll(() => service.close());

/** Exports a profile; `meanwhile` is done once its first member has been read. */
async function exported(
  named: Partial<ProfileIdentity>,
  { app_id = service.appId, meanwhile = async () => {} }: { app_id?: string; meanwhile?: () => Promise<unknown> } = {},
) {
  const lists: Record<string, object[]> = {};
  const identity = { app_id, customer_user_id: null, profile_id: null, ...named };
  await exportProfile(service.database.db, identity, async (name, value) => {
    if (!(Symbol.asyncIterator in value)) {
      await meanwhile();
      return;
    }
    lists[name] = [];
    for await (const rows of value) lists[name].push(...rows);
  });
  return lists;
}

const GONE = 'The app has no such profile.';

test('a profile is exported for its own app only, by either identifier', async () => {
  const { app } = await createApp(service.deps, { name: 'Other' });
  for (const named of [{ customer_user_id: 'anna' }, { profile_id: profileId }]) {
    expect((await exported(named)).access_grants).toMatchObject([{ access_level_id: 'gold' }]);
    await expect(exported(named, { app_id: app.app_id })).rejects.toThrow(GONE);
  }
  await expect(exported({ profile_id: 'not a UUID' })).rejects.toThrow(GONE);
});

test('computed data, internal numbers and the repeated identifiers of the profile are left out of every row', async () => {
  const lists = await exported({ profile_id: profileId });
  const rows = Object.values(lists).flat();
  expect(Object.keys(lists)).toEqual(['attributions', 'access_grants', 'transactions', 'events', 'kept_responses']);
  expect(rows).toHaveLength(5);
  for (const name of ['app_id', 'profile_id', 'purchase_no', 'revenue_nano', 'proceeds_nano', 'net_nano', 'place']) {
    for (const row of rows) expect(row).not.toHaveProperty(name);
  }
});

test('each event has the outcome of its deliveries', async () => {
  const { events } = await exported({ profile_id: profileId });
  for (const event of events as { deliveries: object[] }[]) {
    expect(event.deliveries.map((one) => Object.keys(one).sort())).toEqual([
      ['attempted_at', 'attempts', 'last_error', 'last_response', 'last_status', 'state', 'webhook_id'],
    ]);
  }
});

test('an export shows one moment: what is written while it is read is not in it', async () => {
  const meanwhile = () => grant(service, { access_level_id: 'premium' });
  const levelsIn = ({ access_grants }: Record<string, object[]>) =>
    access_grants?.map((one) => (one as { access_level_id: string }).access_level_id);
  const before = await exported({ profile_id: profileId }, { meanwhile });
  expect([levelsIn(before), before.events?.length]).toEqual([['gold'], 2]);
  const after = await exported({ profile_id: profileId });
  expect([levelsIn(after), after.events?.length]).toEqual([['gold', 'premium'], 3]);
});
