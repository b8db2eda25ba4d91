// Facts are relabelled while others write the same profiles: no fact is left with an earlier label.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LABELS_BATCH, relabelBatch } from '../../src/facts/relabel.ts';
import { post } from '../attribution/world.ts';
import { holdProfile, holdTable, waitForBlocked } from '../setup/locks.ts';
import { startService, type TestService } from '../setup/service.ts';
import { COINS, importProfiles, importTransactions } from './import.ts';

let service: TestService;
const relabel = () => relabelBatch(service.deps.db);

const label = (status: string) =>
  importProfiles(service, [{ customer_user_id: 'u', installed_at: '2025-01-02T00:00:00Z', attribution: { status } }]);

async function listStatuses(): Promise<string[]> {
  const { rows } = await sql<{ status: string }>`
    select distinct status from fact_transaction join dim_attribution using (attribution_key)`.execute(service.deps.db);
  return rows.map(({ status }) => status);
}

beforeAll(async () => {
  service = await startService();
  await label('organic');
  await importTransactions(service, [COINS]);
});
afterAll(() => service.close());

test('a profile whose facts are being written is relabelled later, or they would keep the earlier label', async () => {
  await label('non_organic');
  const release = await holdProfile(service, 'u');
  const whileHeld = await relabel();
  await release();
  expect([whileHeld, await relabel()]).toEqual([0, 1]);
  expect(await listStatuses()).toEqual(['non_organic']);
});

test('a label that is posted while the one before it is being written to the facts is written to them next', async () => {
  await label('organic');
  // Relabelling locks and reads profiles before it writes this table. It waits for the table half a second at most.
  const release = await holdTable(service, 'label_retotalled');
  const relabelling = relabel();
  await Promise.race([relabelling, waitForBlocked(service).catch(() => undefined)]);
  const posting = post(service, { status: 'unknown', customer_user_id: 'u' });
  await Promise.race([posting, waitForBlocked(service, 2).catch(() => undefined)]);
  await release();
  await relabelling;
  expect(await posting).toMatchObject({ status: 201 });
  while ((await relabel()) > 0);
  expect(await listStatuses()).toEqual(['unknown']);
});

test('a profile that is being written does not delay the others, and labels that have been pending longest come first', async () => {
  const { db } = service.deps;
  const labelOne = (customer_user_id: string, campaign: string) =>
    importProfiles(service, [{ customer_user_id, attribution: { status: 'unknown', campaign } }]);
  const names = ['u', 'x', 'y'];
  for (const name of names) await labelOne(name, 'before');
  while ((await relabel()) > 0);
  for (const name of names) await labelOne(name, 'after');
  const listPending = async () => {
    const { rows } = await sql<{ customer_user_id: string }>`
      select customer_user_id from label_pending join profile using (profile_id) order by 1`.execute(db);
    return rows.map(({ customer_user_id }) => customer_user_id);
  };
  const release = await holdProfile(service, 'u');
  const whileHeld = await relabelBatch(db, 1);
  await release();
  expect(whileHeld).toBe(1);
  expect(await listPending()).toEqual(['u', 'y']);
  expect(await relabelBatch(db, 1)).toBe(1);
  expect(await listPending()).toEqual(['y']);
  expect(await relabel()).toBe(1);
});

test('a profile with very many facts is relabelled in a batch of its own', async () => {
  const { db } = service.deps;
  const names = ['u', 'v', 'w'];
  const labelAll = (campaign: string) =>
    importProfiles(
      service,
      names.map((customer_user_id) => ({ customer_user_id, attribution: { status: 'organic', campaign } })),
    );
  await labelAll('first');
  while ((await relabel()) > 0);
  await sql`
    insert into fact_transaction
    select (jsonb_populate_record(f, jsonb_build_object('purchase_no', f.purchase_no + n))).*
    from fact_transaction f, generate_series(1, 5000) n`.execute(db);
  await labelAll('second');
  const turn = { after: 0, hasMore: true };
  const counts: number[] = [];
  while (turn.hasMore) counts.push(await relabelBatch(db, LABELS_BATCH, turn));
  // The batches may come in any order.
  expect(counts.length).toBeGreaterThan(1);
  expect(counts.reduce((sum, count) => sum + count)).toBe(3);
  expect(await listStatuses()).toEqual(['organic']);
});
