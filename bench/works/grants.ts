// Row 3: grants with one webhook enabled, beside the one-upsert route of row 1 with as many connections.
import { join } from 'node:path';
import { type Context, issueKeys, type Work } from '../context.ts';
import { PROFILES, warm } from '../data/warm.ts';
import type { Driven } from '../load/drive.ts';
import { mean } from '../measure.ts';
import { startReference, startService } from '../processes.ts';
import { inMs, perSecond, type Row } from '../report.ts';
import { driveLoad, makeBareTable } from './attribution.ts';
import { addEndpoints, removeEndpoints } from './webhooks.ts';

export const GRANT_PATH = '/api/v2/server-side-api/purchase/profile/grant/access-level/';
const CONNECTIONS = 32;

async function run(context: Context): Promise<Row[]> {
  const { size, folder } = context;
  const dataset = await context.large();
  const keys = await issueKeys(dataset);
  await makeBareTable(dataset);
  await warm(dataset, [...PROFILES, 'purchase']);
  const options = (name: string) => ({ databaseUrl: dataset.url, logFile: join(folder, `${name}.log`) });
  const sink = await startReference('sink.ts', options('sink'));
  const bare: Driven[] = [];
  const grants: Driven[] = [];
  for (let round = 1; round <= size.rounds; round++) {
    const load = { size, connections: CONNECTIONS };
    const named = { people: dataset.people, seed: 100 + round };
    const upsert = await startReference('upsert.ts', options('upsert'));
    bare.push(
      await driveLoad({ ...load, url: upsert.url, requests: { ...named, kind: 'attribution', path: '/attribution' } }),
    );
    await upsert.stop();

    await removeEndpoints(dataset);
    await addEndpoints(dataset, [`${sink.url}/0`]);
    const service = await startService(options('service'));
    const requests = { ...named, kind: 'grant', path: GRANT_PATH, key: keys.secret } as const;
    grants.push(await driveLoad({ ...load, url: service.url, requests }));
    await service.stop();
    context.say(
      `round ${round}: bare ${perSecond(bare.at(-1)!.perSecond)}, grants ${perSecond(grants.at(-1)!.perSecond)}`,
    );
  }
  await sink.stop();
  await removeEndpoints(dataset);
  const rate = mean(grants.map((one) => one.perSecond));
  const reference = mean(bare.map((one) => one.perSecond));
  return [
    {
      id: '3',
      work: `grants, one webhook, ${CONNECTIONS} connections`,
      measured: `${perSecond(rate)}, p99 ${inMs(mean(grants.map(({ p99Ms }) => p99Ms)))}`,
      against: `one upsert per request: ${perSecond(reference)}`,
      ratio: rate / reference,
      goal: '≥ 0.35 ×',
      isReached: rate >= 0.35 * reference,
    },
  ];
}

export const grants: Work = { name: 'grants', words: 'row 3: grants with a webhook', run };
