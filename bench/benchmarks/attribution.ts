// Rows 1, 2 and 11: attribution posts, compared with a bare route (one upsert each) and an empty route in the same app.
import { join } from 'node:path';
import { type Benchmark, type Context, issueKeys, RUN_SEED } from '../context.ts';
import type { Dataset } from '../data/datasets.ts';
import { PROFILES, warm } from '../data/warm.ts';
import { query } from '../database.ts';
import { watchMemory } from '../measure.ts';
import { startReference, startService } from '../processes.ts';
import { inMs, type Row } from '../report.ts';
import { driveAndStop, driveLoad, measureInTurns, p99Of, rateOf, ratioOf } from '../rounds.ts';

const PATH = '/api/v2/web-api/attribution/';
const CONNECTIONS = 64;

/** Makes the table of the bare route, with a row for every profile, as in the service. */
export async function createBareTable({ url }: Dataset): Promise<void> {
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

/**
 * Puts the labels back as they were. Otherwise millions of facts would move for a quarter of an hour, beside the
 * references and the benchmarks that follow.
 */
async function restoreLabels({ url }: Dataset): Promise<void> {
  await query(
    url,
    `update profile_attribution r set attribution_key = w.earlier_key, queue_no = null from label_pending w join app using (app_key)
     where r.app_id = app.app_id and r.profile_id = w.profile_id`,
  );
  await query(url, 'truncate label_pending');
}

async function run(context: Context): Promise<Row[]> {
  const { size, folder } = context;
  const dataset = await context.large();
  const keys = await issueKeys(dataset);
  await createBareTable(dataset);
  await warm(dataset, PROFILES);
  const options = (name: string) => ({ databaseUrl: dataset.url, logFile: join(folder, `${name}.log`) });
  const load = { size, connections: CONNECTIONS };
  const postsOf = (round: number) => ({ kind: 'attribution', people: dataset.people, seed: RUN_SEED + round }) as const;
  const memory: number[] = [];
  const { bare, service, empty } = await measureInTurns(context, dataset, {
    bare: async (round) => {
      const requests = { ...postsOf(round), path: '/attribution' };
      return driveAndStop(await startReference('upsert.ts', options('upsert')), { ...load, requests });
    },
    service: async (round) => {
      const { url, pid, stop } = await startService(options('service'));
      const watch = watchMemory(pid);
      const result = await driveLoad({ ...load, url, requests: { ...postsOf(round), path: PATH, key: keys.public } });
      memory.push(watch.stop().maxMib);
      await stop();
      await restoreLabels(dataset);
      return result;
    },
    empty: async () => {
      const requests = { kind: 'empty', path: '/bench/empty', seed: 1 } as const;
      return driveAndStop(await startReference('empty.ts', options('empty')), { ...load, requests });
    },
  });
  const [toBare, toEmpty] = [ratioOf(service, bare), ratioOf(service, empty)];
  const maxMib = Math.max(...memory);
  const figures = `${rateOf(service)}, p99 ${inMs(p99Of(service))}`;
  return [
    {
      id: '1',
      work: `attribution posts, ${CONNECTIONS} connections, ${dataset.people.toLocaleString('en')} profiles`,
      measured: figures,
      against: `one upsert per request: ${rateOf(bare)}, p99 ${inMs(p99Of(bare))}`,
      ratio: toBare,
      goal: '≥ 2.5 ×, p99 no worse',
      isReached: toBare >= 2.5 && p99Of(service) <= p99Of(bare),
    },
    {
      id: '2',
      work: 'the same',
      measured: figures,
      against: `empty route in the same app: ${rateOf(empty)}`,
      ratio: toEmpty,
      goal: '≥ 0.33 ×',
      isReached: toEmpty >= 0.33,
    },
    {
      id: '11',
      work: 'resident memory of the server under 1, at most',
      measured: `${Math.round(maxMib)} MiB`,
      against: '–',
      goal: '≤ 200 MB',
      isReached: maxMib * 1.048576 <= 200,
    },
  ];
}

export const attribution: Benchmark = { name: 'attribution', title: 'rows 1, 2 and 11: attribution posts', run };
