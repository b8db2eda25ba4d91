// Re-labels the facts of profiles whose attribution changed, in the background. Charts do not wait for it: until then they
// take the label from profile_attribution. It goes gently, so that requests come first.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import type { Deps } from '../deps.ts';

const BATCH = 500;
const IDLE_MS = 500;
/** Rest after a batch, as a multiple of the time that it took. */
const REST = 2;

/** Re-labels up to BATCH profiles that nobody is writing just now; how many it was. */
export async function relabelBatch(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    with pending as (
      select r.app_id, r.profile_id, r.attribution_key, app.app_key
      from profile_attribution r
      join profile p using (app_id, profile_id)
      join app using (app_id)
      where r.relabel_pending
      limit ${BATCH}
      for no key update of r, p skip locked
    ), install as (
      update fact_install f set attribution_key = pending.attribution_key from pending
      where f.app_key = pending.app_key and f.profile_id = pending.profile_id
    ), transactions as (
      update fact_transaction f set attribution_key = pending.attribution_key from pending
      where f.app_key = pending.app_key and f.profile_id = pending.profile_id
        and f.attribution_key <> pending.attribution_key
    ), settled as (
      update profile_attribution r set relabel_pending = false from pending
      where r.app_id = pending.app_id and r.profile_id = pending.profile_id
      returning 1
    )
    select count(*) from settled`.execute(db);
  return Number(rows[0]?.count ?? 0n);
}

/** Runs until stopped; a failure is logged and tried again. */
export function startRelabelling({ db, log }: Pick<Deps, 'db' | 'log'>): { stop: () => Promise<void> } {
  let isStopped = false;
  let wake = () => {};

  async function rest(ms: number): Promise<void> {
    if (isStopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const began = performance.now();
      const count = await relabelBatch(db).catch((error: unknown) => {
        log.warn({ err: error }, 're-labelling failed; trying again');
        return 0;
      });
      await rest(count < BATCH ? IDLE_MS : REST * (performance.now() - began));
    }
  }

  const running = run();
  return {
    stop: async () => {
      isStopped = true;
      wake();
      await running;
    },
  };
}
