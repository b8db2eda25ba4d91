// Rows 1, 2 and 11: attribution posts beside a bare route with one upsert each, and beside an empty route in the same app.
import { join } from 'node:path';
import { type Context, issueKeys, RUN_SEED, type Work } from '../context.ts';
import type { Dataset } from '../data/datasets.ts';
import { PROFILES, warm } from '../data/warm.ts';
import { query } from '../database.ts';
import type { Drive, Driven } from '../load/drive.ts';
import type { Requests } from '../load/requests.ts';
import { mean, watchMemory } from '../measure.ts';
import { runJob, startReference, startService } from '../processes.ts';
import { inMs, perSecond, type Row } from '../report.ts';

const PATH = '/api/v2/web-api/attribution/';
const CONNECTIONS = 64;

/** The table of the bare route: a row for every profile, as the service has one. */
export async function makeBareTable({ url }: Dataset): Promise<void> {
  const [found] = await query(url, "select to_regclass('bare_attribution') as name");
  if (found?.name) return;
  await query(
    url,
    `create table bare_attribution (customer_user_id text primary key, status text not null, attribution_user_id text,
       channel text, campaign text, ad_group text, ad_set text, creative text, recorded_at timestamptz not null)`,
  );
  await query(
    url,
    `insert into bare_attribution (customer_user_id, status, recorded_at)
     select customer_user_id, 'unknown', now() from profile where customer_user_id is not null`,
  );
  await query(url, 'vacuum analyze bare_attribution');
}

export interface Load {
  size: Context['size'];
  url: string;
  connections: number;
  requests: Requests;
}

export async function driveLoad({ size, ...load }: Load): Promise<Driven> {
  const { seconds, warmUpSeconds } = size;
  const driven = await runJob<Drive, Driven>('drive.ts', { ...load, seconds, warmUpSeconds });
  if (driven.failed > 0) throw new Error(`${driven.failed} of ${driven.requests} requests failed`);
  return driven;
}

function sum(rounds: readonly Driven[]) {
  return { rate: mean(rounds.map(({ perSecond }) => perSecond)), p99: mean(rounds.map(({ p99Ms }) => p99Ms)) };
}

/** Labels are as they were: else millions of facts would move for a quarter of an hour, and charts of the next run be asked meanwhile. */
async function putLabelsBack({ url }: Dataset): Promise<void> {
  await query(
    url,
    `update profile_attribution r set attribution_key = w.earlier_key from label_pending w join app using (app_key)
     where r.app_id = app.app_id and r.profile_id = w.profile_id`,
  );
  await query(url, 'truncate label_pending');
}

async function run(context: Context): Promise<Row[]> {
  const dataset = await context.large();
  try {
    return await measure(context, dataset);
  } finally {
    await putLabelsBack(dataset);
  }
}

async function measure({ size, folder, say }: Context, dataset: Dataset): Promise<Row[]> {
  const keys = await issueKeys(dataset);
  await makeBareTable(dataset);
  await warm(dataset, PROFILES);
  const options = (name: string) => ({ databaseUrl: dataset.url, logFile: join(folder, `${name}.log`) });
  const measured: Record<'bare' | 'service' | 'empty', Driven[]> = { bare: [], service: [], empty: [] };
  const memory: number[] = [];
  for (let round = 1; round <= size.rounds; round++) {
    const load = { size, connections: CONNECTIONS };
    const attribution = { kind: 'attribution', people: dataset.people, seed: RUN_SEED + round } as const;

    const bare = await startReference('upsert.ts', options('upsert'));
    measured.bare.push(await driveLoad({ ...load, url: bare.url, requests: { ...attribution, path: '/attribution' } }));
    await bare.stop();

    const service = await startService(options('service'));
    const watch = watchMemory(service.pid);
    const requests = { ...attribution, path: PATH, key: keys.public };
    measured.service.push(await driveLoad({ ...load, url: service.url, requests }));
    memory.push(watch.stop().mostMib);
    await service.stop();

    const empty = await startReference('empty.ts', options('empty'));
    measured.empty.push(
      await driveLoad({ ...load, url: empty.url, requests: { kind: 'empty', path: '/bench/empty', seed: 1 } }),
    );
    await empty.stop();
    say(
      `round ${round}: bare ${perSecond(measured.bare.at(-1)!.perSecond)}, service ${perSecond(measured.service.at(-1)!.perSecond)}, empty ${perSecond(measured.empty.at(-1)!.perSecond)}`,
    );
  }
  const [bare, service, empty] = [sum(measured.bare), sum(measured.service), sum(measured.empty)];
  const mostMib = Math.max(...memory);
  const figures = `${perSecond(service.rate)}, p99 ${inMs(service.p99)}`;
  return [
    {
      id: '1',
      work: `attribution posts, ${CONNECTIONS} connections, ${dataset.people.toLocaleString('en')} profiles`,
      measured: figures,
      against: `one upsert per request: ${perSecond(bare.rate)}, p99 ${inMs(bare.p99)}`,
      ratio: service.rate / bare.rate,
      goal: '≥ 2.5 ×, p99 no worse',
      isReached: service.rate >= 2.5 * bare.rate && service.p99 <= bare.p99,
    },
    {
      id: '2',
      work: 'the same',
      measured: figures,
      against: `empty route in the same app: ${perSecond(empty.rate)}`,
      ratio: service.rate / empty.rate,
      goal: '≥ 0.33 ×',
      isReached: service.rate >= 0.33 * empty.rate,
    },
    {
      id: '11',
      work: 'resident memory of the server under 1, at most',
      measured: `${Math.round(mostMib)} MiB`,
      against: '–',
      goal: '≤ 200 MB',
      isReached: mostMib * 1.048576 <= 200,
    },
  ];
}

export const attribution: Work = { name: 'attribution', words: 'rows 1, 2 and 11: attribution posts', run };
