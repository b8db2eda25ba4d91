// Fills a database with the made-up profiles: rows are copied in, and the service's own statements derive the facts.
// Each chunk is a transaction that also records the progress, so that an interrupted run continues where it stopped.
import { sql } from 'kysely';
import { getApp } from '../../src/apps/service.ts';
import { ensureLabels } from '../../src/attribution/label-queries.ts';
import { copyRows } from '../../src/db/copy.ts';
import type { CopyValue } from '../../src/db/copy-row.ts';
import { planningEachTime } from '../../src/db/prepared.ts';
import type { Session } from '../../src/db/session.ts';
import type { App } from '../../src/deps.ts';
import { refreshColumns } from '../../src/facts/columns.ts';
import { deriveFacts } from '../../src/facts/derive.ts';
import { refreshInstallColumns } from '../../src/facts/install-columns.ts';
import { writeInstalls } from '../../src/facts/installs.ts';
import { addToTotals } from '../../src/facts/totals.ts';
import { timestampOf } from '../../src/lib/datetime.ts';
import { AMOUNT_COLUMNS, PURCHASE_COLUMNS, RECORD_COLUMNS } from '../../src/purchases/columns.ts';
import { priceRecord } from '../../src/purchases/pricing.ts';
import { toRecord } from '../../src/purchases/record.ts';
import { createBenchApp } from './app.ts';
import { createIndexes, dropIndexes } from './indexes.ts';
import { makePerson, type Person, type World } from './people.ts';
import { addTwins } from './twins.ts';
import { ATTRIBUTIONS, type Attribution } from './vocabulary.ts';

const PER_CHUNK = 10_000;
/** All at once: in small batches, the same row of the totals would be written many times. */
const PER_TOTALS_BATCH = 1_000_000;
const LABELS_AT_ONCE = 2_000;

async function writeLabels({ db }: Session): Promise<Map<Attribution, number>> {
  const keys = new Map<Attribution, number>();
  for (let from = 0; from < ATTRIBUTIONS.length; from += LABELS_AT_ONCE) {
    const part = ATTRIBUTIONS.slice(from, from + LABELS_AT_ONCE);
    const found = await ensureLabels(
      db,
      part.map((attribution) => ({ ...attribution, source: 'custom' })),
    );
    for (const [index, attribution] of part.entries()) keys.set(attribution, found[index] as number);
  }
  return keys;
}

const NO_RATES = { commissionOf: () => undefined, rateOf: () => undefined };

function* purchaseRows(app: App, people: readonly Person[]): Generator<CopyValue[]> {
  for (const person of people) {
    for (const transaction of person.transactions) {
      const record = toRecord(transaction);
      const amounts = priceRecord(record, NO_RATES);
      if ('code' in amounts) throw new Error(amounts.message);
      yield [
        app.app_id,
        person.profile_id,
        ...RECORD_COLUMNS.map((name) => record[name]),
        ...AMOUNT_COLUMNS.map((name) => amounts[name]),
      ];
    }
  }
}

async function copyChunk({ client }: Session, app: App, people: readonly Person[], labels: Map<Attribution, number>) {
  const { app_id } = app;
  await copyRows(
    client,
    {
      table: 'profile',
      columns: [
        ['app_id', 'uuid'],
        ['profile_id', 'uuid'],
        ['customer_user_id', 'text'],
        ['installed_at', 'timestamptz'],
        ['country', 'text'],
        ['store', 'text'],
      ],
    },
    people.map((person) => [
      app_id,
      person.profile_id,
      person.customer_user_id,
      timestampOf(new Date(person.installed_at)),
      person.country,
      person.store,
    ]),
  );
  await copyRows(
    client,
    {
      table: 'profile_identity',
      columns: [
        ['app_id', 'uuid'],
        ['customer_user_id', 'text'],
        ['profile_id', 'uuid'],
      ],
    },
    people.map(({ customer_user_id, profile_id }) => [app_id, customer_user_id, profile_id]),
  );
  await copyRows(
    client,
    {
      table: 'profile_attribution',
      columns: [
        ['app_id', 'uuid'],
        ['profile_id', 'uuid'],
        ['attribution_key', 'integer'],
        ['recorded_at', 'timestamptz'],
      ],
    },
    people.flatMap(({ profile_id, attribution, installed_at }) =>
      attribution ? [[app_id, profile_id, labels.get(attribution) as number, timestampOf(new Date(installed_at))]] : [],
    ),
  );
  await copyRows(
    client,
    { table: 'purchase', columns: [['app_id', 'uuid'], ['profile_id', 'uuid'], ...PURCHASE_COLUMNS] },
    purchaseRows(app, people),
  );
}

async function deriveChunk({ db }: Session, app: App, people: readonly Person[], isFirst: boolean): Promise<void> {
  const ids = people.map(({ profile_id }) => profile_id);
  await sql`create temp table chunk (profile_id uuid primary key) on commit drop`.execute(db);
  await sql`insert into chunk select unnest(${ids}::uuid[])`.execute(db);
  await sql`analyze chunk`.execute(db);
  await sql`
    insert into purchase_chain (app_id, store, store_original_transaction_id, profile_id)
    select distinct app_id, store, store_original_transaction_id, profile_id
    from chunk join purchase using (profile_id) where app_id = ${app.app_id}`.execute(db);
  await sql`
    create temp table chunk_chain on commit drop as
    select profile_id, store, store_original_transaction_id
    from chunk join purchase_chain using (profile_id) where app_id = ${app.app_id}`.execute(db);
  await sql`analyze chunk_chain`.execute(db);
  await writeInstalls(planningEachTime(db), app, sql`chunk`);
  await sql`
    update fact_install f set attribution_key = a.attribution_key
    from chunk join profile_attribution a using (profile_id)
    where a.app_id = ${app.app_id} and f.app_key = ${app.app_key} and f.profile_id = a.profile_id
      and f.attribution_key <> a.attribution_key`.execute(db);
  if (isFirst) await sql`analyze purchase, purchase_chain, fact_install, product`.execute(db);
  await deriveFacts(planningEachTime(db), app, sql`(table chunk_chain)`);
}

interface Progress {
  app_id: string;
  profiles: number;
  is_complete: boolean;
}

async function startOrResume(session: Session): Promise<{ app: App; progress: Progress }> {
  const { client } = session;
  await client.query(
    'create table if not exists bench_progress (app_id uuid not null, profiles integer not null, is_complete boolean not null)',
  );
  const { rows } = await client.query<Progress>('select * from bench_progress');
  if (rows[0]) return { app: await getApp(session, rows[0].app_id), progress: rows[0] };
  const app = await createBenchApp(session);
  await client.query('insert into bench_progress values ($1, 0, false)', [app.app_id]);
  return { app, progress: { app_id: app.app_id, profiles: 0, is_complete: false } };
}

async function commitStep({ client }: Session, profiles: number, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  await work();
  await client.query('update bench_progress set profiles = $1', [profiles]);
  await client.query('commit');
}

/** Does what the service would do in the background. */
async function runBackgroundWork({ db, client }: Session, app: App): Promise<void> {
  await client.query("set work_mem = '1GB'");
  const work = db.transaction().setIsolationLevel('repeatable read');
  while ((await work.execute((trx) => addToTotals(trx, app.app_key, PER_TOTALS_BATCH))) > 0);
  while ((await refreshColumns(db)) > 0);
  while ((await refreshInstallColumns(db)) > 0);
}

export interface Size {
  /** Profiles that are made one by one; the others are their twins. */
  made: number;
  people: number;
}

/** Fills a migrated database with the world; calls `onProgress` with the number of profiles so far. */
export async function fill(
  session: Session,
  world: World,
  { made, people }: Size,
  onProgress: (profiles: number) => void,
): Promise<App> {
  const { app, progress } = await startOrResume(session);
  const { client } = session;
  if (progress.is_complete && progress.profiles === people) {
    // A migration may have changed what is totalled.
    await runBackgroundWork(session, app);
    return app;
  }
  await client.query("set synchronous_commit = off; set work_mem = '256MB'; set maintenance_work_mem = '512MB'");
  await client.query('update bench_progress set is_complete = false');
  await dropIndexes(client);
  const labels = await writeLabels(session);
  for (let from = progress.profiles; from < made; from += PER_CHUNK) {
    const until = Math.min(from + PER_CHUNK, made);
    const chunk = Array.from({ length: until - from }, (_, index) => makePerson(world, from + index));
    await commitStep(session, until, async () => {
      await copyChunk(session, app, chunk, labels);
      await deriveChunk(session, app, chunk, from === 0);
    });
    onProgress(until);
  }
  for (let from = Math.max(progress.profiles, made); from < people; from += made) {
    await commitStep(session, from + made, () => addTwins(session, app, { copy: from / made, people: made }));
    onProgress(from + made);
  }
  // Twins are copied without the service's statements. One change per month makes the service look at their installs.
  await client.query(
    `insert into install_column_change select distinct on (first_of_month(installed_day)) 1, f.* from fact_install f
    order by first_of_month(installed_day)`,
  );
  await createIndexes(client);
  await runBackgroundWork(session, app);
  await client.query('vacuum analyze');
  await client.query('update bench_progress set is_complete = true');
  return app;
}
