// When the columns of a month of installs are written: at first, by appending changes, and anew once too much was
// appended.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refreshInstallColumns } from '../../src/facts/install-columns.ts';
import { importProfiles } from '../analytics/import.ts';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Has two customers install in January, in this country. */
const installIn = (country: string) =>
  importProfiles(
    service,
    ['u', 'v'].map((id) => ({ customer_user_id: id, installed_at: '2025-01-10T12:00:00Z', country })),
  );

const refresh = (minChanges: number) =>
  refreshInstallColumns(service.deps.db, { minInstalls: 2, minChanges, maxAppended: 4 });

/** Returns what is recorded of the only month, how many rows its columns have and how many changes wait. */
async function readMonth(): Promise<unknown> {
  const { rows } = await sql`
    select installs, appended,
      (select sum(length(codes))::integer from install_column_chunk where name = 'kind') as rows,
      (select count(*)::integer from install_column_change) as waiting
    from install_column_month`.execute(service.deps.db);
  return rows[0];
}

test('changes are appended once there are enough of them, and the month is rebuilt when too many would be', async () => {
  await installIn('DE');
  expect(await refresh(4)).toBe(1);
  expect(await readMonth()).toEqual({ installs: 2, appended: 0, rows: 2, waiting: 0 });
  // Each change is two images: of the install as it was and as it is.
  await installIn('FR');
  expect(await refresh(5)).toBe(0);
  expect(await refresh(4)).toBe(1);
  expect(await readMonth()).toEqual({ installs: 2, appended: 4, rows: 6, waiting: 0 });
  await installIn('DE');
  expect(await refresh(4)).toBe(1);
  expect(await readMonth()).toEqual({ installs: 2, appended: 8, rows: 10, waiting: 0 });
  await installIn('FR');
  expect(await refresh(4)).toBe(1);
  expect(await readMonth()).toEqual({ installs: 2, appended: 0, rows: 2, waiting: 0 });
});
