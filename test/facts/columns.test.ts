// When the columns of a month are written: at first, by appending changes, and anew once too much was appended.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refreshColumns, tidyColumns } from '../../src/facts/columns.ts';
import { addApp, COINS, type Home, importProfiles, importTransactions, totalAll } from '../analytics/import.ts';
import { startService, type TestService } from '../setup/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Sets the price of purchases of the same customer in January. */
async function price(home: Home, value: number, ...ids: string[]): Promise<void> {
  const own = (id: string) => ({ store_transaction_id: id, store_original_transaction_id: id });
  await importTransactions(
    home,
    ids.map((id) => ({ ...COINS, ...own(id), price: { ...COINS.price, value } })),
  );
  await totalAll(service.deps.db);
}

/** Returns what is recorded of the only month, how many rows its columns have and how many changes wait. */
async function readMonth({ app }: Home): Promise<unknown> {
  const { rows } = await sql`
    select facts, appended, changes,
      (select sum(length(codes))::integer from fact_column_chunk c where c.app_key = m.app_key and c.name = 'kind') as rows,
      (select count(*)::integer from fact_column_change c where c.app_key = m.app_key) as waiting
    from fact_column_month m where app_key = ${app.app_key}`.execute(service.deps.db);
  return rows[0];
}

test('changes are appended once there are enough of them, and the month is rebuilt when too many would be', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Appended' });
  const refresh = (minChanges = 2) => refreshColumns(db, { minFacts: 2, minChanges, maxAppended: 2 });
  await importProfiles(home, [{ customer_user_id: 'u' }]);
  await price(home, 5, 'a');
  expect(await refresh()).toBe(0);
  await price(home, 5, 'b');
  expect(await refresh()).toBe(1);
  expect(await readMonth(home)).toEqual({ facts: 2, appended: 0, changes: 0, rows: 2, waiting: 0 });

  // Each change is two images: of the fact as it was and as it is.
  await price(home, 6, 'a');
  expect(await readMonth(home)).toEqual({ facts: 2, appended: 0, changes: 2, rows: 2, waiting: 2 });
  expect(await refresh(3)).toBe(0);
  expect(await refresh()).toBe(1);
  expect(await readMonth(home)).toEqual({ facts: 2, appended: 2, changes: 0, rows: 4, waiting: 0 });
  await price(home, 7, 'a');
  expect(await refresh()).toBe(1);
  expect(await readMonth(home)).toEqual({ facts: 2, appended: 4, changes: 0, rows: 6, waiting: 0 });

  await price(home, 8, 'a');
  await price(home, 8, 'b');
  expect(await readMonth(home)).toEqual({ facts: 2, appended: 4, changes: 4, rows: 6, waiting: 4 });
  expect(await refresh()).toBe(1);
  expect(await readMonth(home)).toEqual({ facts: 2, appended: 0, changes: 0, rows: 2, waiting: 0 });
});

test('a month is tidied when more than a tenth was appended', async () => {
  const { db } = service.deps;
  const home = await addApp(service, { name: 'Tidied' });
  await importProfiles(home, [{ customer_user_id: 'u' }]);
  await price(home, 5, ...Array.from({ length: 20 }, (_, i) => `c${i}`));
  const refresh = () => refreshColumns(db, { minFacts: 20, minChanges: 1, maxAppended: 1 });
  await refresh();
  await price(home, 6, 'c0');
  await refresh();
  expect(await readMonth(home)).toMatchObject({ facts: 20, appended: 2 });
  expect(await tidyColumns(db)).toBe(0);
  await price(home, 6, 'c1');
  await refresh();
  expect(await tidyColumns(db)).toBe(1);
  expect(await readMonth(home)).toEqual({ facts: 20, appended: 0, changes: 0, rows: 20, waiting: 0 });
});
