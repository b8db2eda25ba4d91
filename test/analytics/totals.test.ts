// Totals are a cache: charts answer the same whether totals are complete, half built, out of date or missing.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { APP_ZONE, EXAMPLE } from './examples.ts';
import { history, NOW, PRODUCTS } from './histories.ts';
import { addApp, addProducts, importProfiles } from './import.ts';
import { consultOracle } from './oracle.ts';
import { ask, questions } from './questions.ts';
import { STATES } from './states.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ now: () => new Date(NOW) });
});
afterAll(() => service.close());

/** The other states take four times as long: `npm run test:states` and CI run them, and generated histories. */
const ALWAYS: ReadonlySet<string> = new Set<keyof typeof STATES>([
  'complete',
  'in columns to which changes were appended',
  'of installs in columns, some changed together with their labels, and some changes appended',
  'half built',
]);
const GENERATED = Number(process.env.HISTORIES ?? 0);

describe.each(Object.entries(STATES))('with totals %s', (state, reachState) => {
  test.skipIf(GENERATED === 0 && !ALWAYS.has(state))(
    'charts answer as the oracle counts',
    { timeout: 300_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(history, questions(4), async (world, asked) => {
          const home = await addApp(service, { name: 'Totals', timezone: APP_ZONE, sharing: 'transfer' });
          await addProducts(home, PRODUCTS);
          if (!/labels|installs/.test(state)) await importProfiles(home, world.profiles);
          await reachState(home, world);
          for (const { question, zoneName } of asked) {
            const expected = consultOracle(world, question, zoneName);
            expect(await ask(home, question, zoneName), JSON.stringify({ question, zoneName })).toEqual(expected);
          }
        }),
        { numRuns: 1 + GENERATED, endOnFailure: true, examples: [EXAMPLE] },
      );
    },
  );
});
