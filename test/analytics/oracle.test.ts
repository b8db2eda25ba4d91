// Generated histories: every chart as the slow oracle counts it, for random questions in random zones.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { history, NOW, PRODUCTS } from './histories.ts';
import { addApp, addProducts, type Home, importProfiles, importTransactions } from './import.ts';
import { consultOracle } from './oracle.ts';
import type { World } from './oracle-facts.ts';
import { ask, questions, zone } from './questions.ts';

const APP_ZONE = 'America/New_York';
let service: TestService;

beforeAll(async () => {
  service = await startService({ now: () => new Date(NOW) });
});
afterAll(() => service.close());

async function settle({ profiles, transactions }: World): Promise<Home> {
  const home = await addApp(service, { name: 'History', timezone: APP_ZONE });
  await addProducts(home, PRODUCTS);
  await importProfiles(home, profiles);
  await importTransactions(home, transactions);
  return home;
}

test('all charts answer as the oracle counts', { timeout: 180_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(history, questions(6), zone, async (world, asked, zoneName) => {
      const home = await settle(world);
      for (const question of asked) {
        const told = consultOracle(world, question, zoneName);
        expect(await ask(home, question, zoneName), JSON.stringify({ question, zoneName })).toEqual(told);
      }
    }),
    // To have a small counterexample, take endOnFailure away: shrinking takes minutes.
    { numRuns: Number(process.env.HISTORIES ?? 4), endOnFailure: true },
  );
});
