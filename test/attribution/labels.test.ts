// Known labels need no query, even if they were written before this process started.
import { expect, test } from 'vitest';
import type { Label } from '../../src/attribution/label.ts';
import { createLabels } from '../../src/attribution/labels.ts';
import { createAttributionRecorder } from '../../src/attribution/service.ts';
import { createDb } from '../../src/db/client.ts';
import { createTestDatabase } from '../setup/database.ts';
import { holdTable, waitForBlocked } from '../setup/locks.ts';
import { startService } from '../setup/service.ts';
import { addProfile } from '../setup/world.ts';
import { readRecord } from './world.ts';

const none = { channel: null, campaign: null, ad_group: null, ad_set: null, creative: null };
const KNOWN: Label[] = [
  { ...none, status: 'organic', source: 'custom' },
  { status: 'non_organic', channel: 'a', campaign: 'b', ad_group: 'c', ad_set: 'd', creative: 'e', source: 'custom' },
  { ...none, status: 'non_organic', channel: 'ab', source: 'custom' },
];

test('labels written before a start are preloaded with their keys', async () => {
  const database = await createTestDatabase();
  try {
    const serverRun = { number: 0 };
    const keys = await createLabels(serverRun).keysOf(database.db, KNOWN);
    const settings = { connectionString: database.url, max: 1, statementTimeoutMs: 5_000, applicationName: 'labels' };
    const db = createDb(settings, () => undefined);
    const labels = createLabels(serverRun);
    await labels.preload(db);
    await db.destroy();
    expect(await labels.find(db, KNOWN.toReversed())).toEqual(keys.toReversed());
    await expect(labels.find(db, [{ ...none, status: 'unknown', source: 'custom' }])).rejects.toThrow();
    // Nothing is known about another run of the server.
    serverRun.number++;
    await expect(labels.find(db, KNOWN)).rejects.toThrow();
  } finally {
    await database.close();
  }
});

test('labels that differ in one member, or have its value in another, have different keys', async () => {
  const database = await createTestDatabase();
  try {
    const plain: Label = { ...none, status: 'organic', source: 'custom' };
    const names = ['channel', 'campaign', 'ad_group', 'ad_set', 'creative', 'source'] as const;
    const different = [plain, { ...plain, status: 'unknown' }, ...names.map((name) => ({ ...plain, [name]: 'x' }))];
    const labels = createLabels({ number: 0 });
    const keys = await labels.keysOf(database.db, different);
    expect(new Set(keys).size).toBe(different.length);
    expect(await labels.keysOf(database.db, different.toReversed())).toEqual(keys.toReversed());
  } finally {
    await database.close();
  }
});

test('new labels of one value are counted under the first of them, even if they are written together', async () => {
  const database = await createTestDatabase();
  try {
    const labels = createLabels({ number: 0 });
    const write = (channel: string, campaigns: readonly string[]) =>
      labels.keysOf(
        database.db,
        campaigns.map((campaign) => ({ ...none, status: 'organic', channel, campaign, source: 'custom' })),
      );
    const together = await write('social', ['a', 'b']);
    const later = await write('social', ['c']);
    const other = await write('search', ['a']);
    const rows = await database.db
      .selectFrom('dim_attribution')
      .where('attribution_key', 'in', [...together, ...later, ...other])
      .orderBy('attribution_key')
      .select(['channel_key', 'campaign_key'])
      .execute();
    const [a, b] = together;
    expect(new Set(rows.slice(0, 3).map(({ channel_key }) => channel_key))).toEqual(new Set([Math.min(a!, b!)]));
    expect(rows[3]).toMatchObject({ channel_key: other[0] });
    expect(new Set(rows.map(({ campaign_key }) => campaign_key)).size).toBe(3);
  } finally {
    await database.close();
  }
});

test('a post whose label was looked up on an earlier run of the server is refused, and records nothing', async () => {
  const service = await startService();
  try {
    const { db } = service.database;
    const profileId = await addProfile(service, 'anna');
    const serverRun = { number: 0 };
    const record = createAttributionRecorder({ ...service.deps, groupDb: db, serverRun });
    const release = await holdTable(service, 'dim_attribution');
    const posted = record(service.app, { status: 'organic', customer_user_id: 'anna' });
    const refused = expect(posted).rejects.toMatchObject({ statusCode: 503 });
    // One statement looks for the label, another preloads the newest labels.
    await waitForBlocked(service, 2);
    serverRun.number++;
    await release();
    await refused;
    expect(await readRecord(service, profileId)).toBeUndefined();
  } finally {
    await service.close();
  }
});
