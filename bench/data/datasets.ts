// The data sets, kept from run to run as long as the generator stays the same. New migrations bring them up to date.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { MigrationError } from '../../src/db/migration-refusals.ts';
import type { App } from '../../src/deps.ts';
import {
  createDatabase,
  databaseUrl,
  dropDatabase,
  exists,
  openBenchSession,
  query,
  type Server,
} from '../database.ts';
import { fill } from './fill.ts';
import { createWorld } from './people.ts';

const SMALL = 'sps_bench_tenth';
const LARGE = 'sps_bench';
const COPIES = 10;

export interface Dataset {
  name: string;
  url: string;
  app: App;
  people: number;
  /** When the data end, in milliseconds. */
  end: number;
}

/**
 * Hashes the sources that the data are made by: any change to them, even of a comment, has the data made again.
 * Migrations do not count, as later ones are applied to existing data.
 */
function fingerprint(): string {
  const hash = createHash('sha256');
  const folder = new URL('.', import.meta.url);
  for (const file of ['random.ts', 'vocabulary.ts', 'chains.ts', 'people.ts', 'twins.ts', 'app.ts'])
    hash.update(readFileSync(new URL(file, folder)));
  return hash.digest('hex');
}

interface Stamp {
  fingerprint: string;
  made: number;
  end: number;
}

async function readStamp(url: string): Promise<Stamp | undefined> {
  try {
    const [row] = await query(url, 'select stamp from bench_stamp');
    return row?.stamp as Stamp | undefined;
  } catch {
    return undefined;
  }
}

function startOfToday(): number {
  return new Date().setUTCHours(0, 0, 0, 0);
}

async function createDataset(server: Server, name: string, made: number): Promise<Stamp> {
  await dropDatabase(server, name);
  const url = await createDatabase(server, name);
  await migrateToLatest(url);
  const stamp = { fingerprint: fingerprint(), made, end: startOfToday() };
  await query(url, 'create table bench_stamp (stamp json)');
  await query(url, 'insert into bench_stamp values ($1)', [JSON.stringify(stamp)]);
  return stamp;
}

/** Returns the stamp of the existing data set, if this generator made it at this size and it can be migrated. */
async function findUsable(server: Server, name: string, made: number): Promise<Stamp | undefined> {
  if (!(await exists(server, name))) return undefined;
  const url = databaseUrl(server, name);
  const stamp = await readStamp(url);
  if (stamp?.fingerprint !== fingerprint() || stamp.made !== made) return undefined;
  try {
    await migrateToLatest(url);
    return stamp;
  } catch (error) {
    if (error instanceof MigrationError) return undefined;
    throw error;
  }
}

type Log = (message: string) => void;

async function fillDataset(
  server: Server,
  name: string,
  stamp: Stamp,
  { people, log }: { people: number; log: Log },
): Promise<Dataset> {
  const url = databaseUrl(server, name);
  const world = createWorld(stamp.made, stamp.end);
  const session = await openBenchSession(url);
  const began = performance.now();
  const app = await fill(session, world, { made: stamp.made, people }, (profiles) =>
    log(`${name}: ${profiles} of ${people} profiles after ${Math.round((performance.now() - began) / 1000)} s`),
  );
  await session.close();
  return { name, url, app, people, end: stamp.end };
}

/**
 * Returns the data set of `made` profiles and the one with nine twins of each of them. Makes them if they do not exist.
 */
export async function provideDatasets(
  server: Server,
  { made, log }: { made: number; log: Log },
): Promise<{ small: Dataset; large: Dataset }> {
  const stamp = (await findUsable(server, SMALL, made)) ?? (await createDataset(server, SMALL, made));
  const small = await fillDataset(server, SMALL, stamp, { people: made, log });
  const known = await findUsable(server, LARGE, made);
  if (known?.end !== stamp.end) {
    await dropDatabase(server, LARGE);
    await query(server.url, `create database ${LARGE} template ${SMALL}`);
  }
  const large = await fillDataset(server, LARGE, stamp, { people: made * COPIES, log });
  return { small, large };
}
