// Row 3: grants with one webhook enabled, compared with the one-upsert route of row 1 over as many connections.
import { join } from 'node:path';
import { type Benchmark, type Context, issueKeys } from '../context.ts';
import { PURCHASES, warm } from '../data/warm.ts';
import { startReference, startService } from '../processes.ts';
import { inMs, type Row } from '../report.ts';
import { driveAndStop, measureInTurns, p99Of, rateOf, ratioOf } from '../rounds.ts';
import { createBareTable } from './attribution.ts';
import { addEndpoints, removeEndpoints } from './webhooks.ts';

export const GRANT_PATH = '/api/v2/server-side-api/purchase/profile/grant/access-level/';
const CONNECTIONS = 32;

async function run(context: Context): Promise<Row[]> {
  const { size, folder } = context;
  const dataset = await context.large();
  const keys = await issueKeys(dataset);
  await createBareTable(dataset);
  await warm(dataset, PURCHASES);
  const options = (name: string) => ({ databaseUrl: dataset.url, logFile: join(folder, `${name}.log`) });
  const sink = await startReference('sink.ts', options('sink'));
  const load = { size, connections: CONNECTIONS };
  const named = (round: number) => ({ people: dataset.people, seed: 100 + round });
  const { bare, grants } = await measureInTurns(context, dataset, {
    bare: async (round) => {
      const requests = { ...named(round), kind: 'attribution', path: '/attribution' } as const;
      return driveAndStop(await startReference('upsert.ts', options('upsert')), { ...load, requests });
    },
    grants: async (round) => {
      await removeEndpoints(dataset);
      await addEndpoints(dataset, [`${sink.url}/0`]);
      const requests = { ...named(round), kind: 'grant', path: GRANT_PATH, key: keys.secret } as const;
      return driveAndStop(await startService(options('service')), { ...load, requests });
    },
  });
  await sink.stop();
  await removeEndpoints(dataset);
  const ratio = ratioOf(grants, bare);
  return [
    {
      id: '3',
      work: `grants, one webhook, ${CONNECTIONS} connections`,
      measured: `${rateOf(grants)}, p99 ${inMs(p99Of(grants))}`,
      against: `one upsert per request: ${rateOf(bare)}`,
      ratio,
      goal: '≥ 0.35 ×',
      isReached: ratio >= 0.35,
    },
  ];
}

export const grants: Benchmark = { name: 'grants', title: 'row 3: grants with a webhook', run };
