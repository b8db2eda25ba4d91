// Attributions while a transaction locks one of their profiles for longer than a post waits.
import { expect, test } from 'vitest';
import { post } from '../attribution/world.ts';
import { startService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';

test('a locked profile fails its own post alone', async () => {
  const service = await startService();
  const names = ['a', 'b', 'held', 'c', 'd'];
  for (const name of names) await addProfile(service, name);
  const statuses = await service.deps.db.transaction().execute(async (trx) => {
    await trx
      .selectFrom('profile_identity')
      .select('profile_id')
      .where('customer_user_id', '=', 'held')
      .forUpdate()
      .execute();
    const responses = await Promise.all(
      names.map((name) => post(service, { status: 'organic', customer_user_id: name })),
    );
    return responses.map(({ status }) => status);
  });
  expect(statuses).toEqual([201, 201, 503, 201, 201]);
  expect(await post(service, { status: 'organic', customer_user_id: 'held' })).toMatchObject({ status: 201 });
  await service.close();
});
