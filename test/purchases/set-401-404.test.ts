// Setting a transaction needs a secret key, and a profile of the key's app.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keyContract } from '../http/key-contract.ts';
import { createProfile } from '../profile/world.ts';
import { startService, type TestService } from '../setup/service.ts';
import { period, SET, setTransaction } from './world.ts';

describe('401', () => {
  keyContract({ method: 'POST', path: SET, kind: 'secret', body: period() });
});

describe('404', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await createProfile(service, { customer: 'anna' });
  });
  afterAll(() => service.close());

  test.each([
    { 'service-customer-user-id': 'nobody' },
    { 'service-profile-id': randomUUID() },
    { 'service-profile-id': 'no uuid' },
    { 'service-customer-user-id': 'anna', 'service-profile-id': randomUUID() },
  ])('is the answer to %j', async (headers) => {
    expect(await setTransaction(service, headers as Record<string, string>, period())).toMatchObject({
      status: 404,
      json: { error_code: 'profile_does_not_exist', status_code: 404, errors: [{ source: null }] },
    });
    expect(await service.database.db.selectFrom('purchase_chain').selectAll().execute()).toEqual([]);
  });

  test('comes after the body is checked', async () => {
    expect((await setTransaction(service, 'nobody', {})).status).toBe(400);
  });
});
