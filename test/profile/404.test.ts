// Profiles that do not exist, for every operation that names one.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/apps/service.ts';
import { waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { createProfile, deleteProfile, type Named, readProfile, updateProfile } from './world.ts';

let service: TestService;
let anna: string;
let bert: string;
beforeAll(async () => {
  service = await startService();
  anna = (await createProfile(service, { customer: 'anna' })).json.data.profile_id;
  bert = (await createProfile(service, { customer: 'bert' })).json.data.profile_id;
});
afterAll(() => service.close());

const NOT_FOUND = {
  status: 404,
  json: {
    error_code: 'profile_does_not_exist',
    status_code: 404,
    errors: [{ source: null, errors: [expect.stringMatching(/not found/)] }],
  },
};

const operations: [string, (service: TestService, named: Named) => ReturnType<typeof readProfile>][] = [
  ['read', readProfile],
  ['update', updateProfile],
  ['delete', deleteProfile],
];

describe.each(operations)('%s', (_, send) => {
  test('does not find identifiers that match nothing, nor a malformed id', async () => {
    for (const named of [{ customer: 'nobody' }, { customer: 'Anna' }, { profile: randomUUID() }, { profile: 'x' }]) {
      expect(await send(service, named)).toMatchObject(NOT_FOUND);
    }
  });

  test('does not find two identifiers that name different profiles', async () => {
    expect(await send(service, { customer: 'anna', profile: bert })).toMatchObject(NOT_FOUND);
  });

  test('does not find a name that an import gives up while the profile is locked', async () => {
    const { db } = service.database;
    const { json } = await createProfile(service, { customer: 'cleo' });
    const trx = await db.startTransaction().execute();
    for (const table of ['profile', 'profile_identity'] as const) {
      const changed = trx.updateTable(table).set({ customer_user_id: 'dora' });
      await changed.where('profile_id', '=', json.data.profile_id).execute();
    }
    const asked = send(service, { customer: 'cleo' });
    await waitForBlocked(service);
    await trx.commit().execute();
    expect(await asked).toMatchObject(NOT_FOUND);
    await deleteProfile(service, { customer: 'dora' });
  });

  test('does not find a profile of another app', async () => {
    const other = await createApp(service.deps, { name: 'Other' });
    const stranger = { ...service, secretKey: other.secret_key };
    expect(await send(stranger, { profile: anna })).toMatchObject(NOT_FOUND);
    expect(await send(stranger, { customer: 'anna' })).toMatchObject(NOT_FOUND);
  });
});

test('creating a profile with an id that names none creates none', async () => {
  for (const named of [{ profile: randomUUID() }, { profile: 'x' }, { profile: randomUUID(), customer: 'carl' }]) {
    expect(await createProfile(service, named)).toMatchObject(NOT_FOUND);
  }
  expect(await readProfile(service, { customer: 'carl' })).toMatchObject(NOT_FOUND);
});

test('the profile is looked up after the body is checked', async () => {
  expect((await updateProfile(service, { customer: 'nobody' }, { country: 5 })).status).toBe(400);
});
