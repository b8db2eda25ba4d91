// Creates the demo's app with its products, and imports its people from files, as an operator would.
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configureProducts } from '../apps/catalogue.ts';
import { addAccessLevel, createApp, createKey, getApp, listKeys, revokeKey } from '../apps/service.ts';
import type { App } from '../deps.ts';
import { importFile } from '../import/import-file.ts';
import type { Kind } from '../import/kind.ts';
import { PROFILES } from '../import/profiles/kind.ts';
import { TRANSACTIONS } from '../import/transactions/kind.ts';
import { OperatorError, unlessRefused } from '../operator-error.ts';
import type { Service } from '../service.ts';
import { PRODUCTS } from './market.ts';
import { simulate } from './simulate.ts';
import type { DemoFolder } from './state.ts';

const SEED = 1;

export interface Keys {
  publicKey: string;
  secretKey: string;
}

/** Returns the app of the last run, or a new one if this database has none. */
export async function provideApp({ deps }: Service, folder: DemoFolder): Promise<App> {
  const { app_id } = folder.state;
  if (app_id) {
    const found = await unlessRefused(getApp(deps, app_id));
    if (found) return found;
  }
  const { app } = await createApp(deps, { name: 'Demo' });
  // The keys it is created with are revoked, just like those of an earlier run.
  const keys = await listKeys(deps, app.app_id);
  await folder.save({ app_id: app.app_id, is_loaded: false, key_ids: keys.map(({ key_id }) => key_id) });
  return app;
}

/** Issues fresh keys; those that the last run printed are refused from now on. */
export async function provideKeys({ deps }: Service, folder: DemoFolder, { app_id }: App): Promise<Keys> {
  for (const keyId of folder.state.key_ids ?? []) await revokeKey(deps, keyId);
  const publicKey = await createKey(deps, { appId: app_id, kind: 'public' });
  const secretKey = await createKey(deps, { appId: app_id, kind: 'secret' });
  await folder.save({ key_ids: [publicKey.key_id, secretKey.key_id] });
  return { publicKey: publicKey.key, secretKey: secretKey.key };
}

/**
 * Loads the people unless an earlier run did, continuing an interrupted one. Fails at its next step once the signal is
 * aborted.
 */
export async function loadPeople(
  service: Service,
  folder: DemoFolder,
  { app, count, signal }: { app: App; count: number; signal: AbortSignal },
): Promise<void> {
  if (folder.state.is_loaded) return;
  const until = folder.state.until ?? service.deps.now().toISOString();
  await folder.save({ until });
  await addAccessLevel(service.deps, app.app_id, 'premium');
  await configureProducts(service.deps, app.app_id, PRODUCTS);
  process.stdout.write(`Simulating ${count} people and two years of their purchases …\n`);
  const files = await writeFiles(folder.path, { count, until: new Date(until), signal });
  await importRecords(service, app, { kind: PROFILES, words: 'profiles', file: files.profiles, signal });
  await importRecords(service, app, { kind: TRANSACTIONS, words: 'transactions', file: files.transactions, signal });
  await folder.save({ is_loaded: true });
}

async function writeFiles(path: string, { count, until, signal }: { count: number; until: Date; signal: AbortSignal }) {
  const files = { profiles: join(path, 'profiles.ndjson'), transactions: join(path, 'transactions.ndjson') };
  for (const file of Object.values(files)) await writeFile(file, '');
  for (const lives of inGroups(simulate({ seed: SEED, profiles: count, until }), LIVES_AT_ONCE)) {
    signal.throwIfAborted();
    await appendFile(files.profiles, toLines(lives.map(({ profile }) => profile)));
    await appendFile(files.transactions, toLines(lives.flatMap(({ transactions }) => transactions)));
  }
  return files;
}

const LIVES_AT_ONCE = 200;

function* inGroups<T>(all: Iterable<T>, size: number): Generator<T[]> {
  let group: T[] = [];
  for (const one of all) {
    group.push(one);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  yield group;
}

const toLines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

interface Batch<T> {
  kind: Kind<T>;
  words: string;
  file: string;
  signal: AbortSignal;
}

async function importRecords<T>(service: Service, app: App, { kind, words, file, signal }: Batch<T>): Promise<void> {
  const { connectionString, deps } = service;
  const { read, rejected } = await importFile(kind, { connectionString, app, file, now: deps.now, signal });
  process.stdout.write(`Imported ${read} ${words} from ${file}.\n`);
  if (rejected > 0)
    throw new OperatorError(`${rejected} ${words} of the demo were rejected: see ${file}.rejects.ndjson.`);
}
