// Labels that are known need no look at the database, also those that were written before this process began.
import { expect, test } from 'vitest';
import type { Label } from '../../src/attribution/label.ts';
import { createLabels } from '../../src/attribution/labels.ts';
import { createDb } from '../../src/db/client.ts';
import { createTestDatabase } from '../setup/database.ts';

const none = { channel: null, campaign: null, ad_group: null, ad_set: null, creative: null };
const KNOWN: Label[] = [
  { ...none, status: 'organic', source: 'custom' },
  { status: 'non_organic', channel: 'a', campaign: 'b', ad_group: 'c', ad_set: 'd', creative: 'e', source: 'custom' },
  { ...none, status: 'non_organic', channel: 'ab', source: 'custom' },
];

test('labels of before a start are remembered with their keys', async () => {
  const database = await createTestDatabase();
  try {
    const serverRun = { number: 0 };
    const keys = await createLabels(serverRun).keysOf(database.db, KNOWN);
    const settings = { connectionString: database.url, max: 1, statementTimeoutMs: 5_000, applicationName: 'labels' };
    const db = createDb(settings, () => undefined);
    const labels = createLabels(serverRun);
    await labels.recall(db);
    await db.destroy();
    expect(await labels.find(db, KNOWN.toReversed())).toEqual(keys.toReversed());
    await expect(labels.find(db, [{ ...none, status: 'unknown', source: 'custom' }])).rejects.toThrow();
    // Of another run of the server nothing is known.
    serverRun.number++;
    await expect(labels.find(db, KNOWN)).rejects.toThrow();
  } finally {
    await database.close();
  }
});
