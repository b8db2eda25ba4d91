// What every benchmark receives: the size of the run, the database server and the data sets, made when first asked for.
import { createKey } from '../src/apps/service.ts';
import { type Dataset, provideDatasets } from './data/datasets.ts';
import { openBenchSession, type Server } from './database.ts';
import type { Row } from './report.ts';

/**
 * The seed of this run's attributions. The last run's would change no labels, and changing labels is part of the work.
 */
export const RUN_SEED = Math.floor(Date.now() / 1000);

export interface Size {
  /** The name of its data folder in bench/.data. */
  folder: string;
  /** Profiles in the small data set; the large one has ten times as many. */
  made: number;
  importProfiles: number;
  seconds: number;
  warmUpSeconds: number;
  rounds: number;
  pendingDeliveries: number;
  latencySamples: number;
  /** Chart questions of each kind. */
  questions: number;
}

export const FULL: Size = {
  folder: 'full',
  made: 100_000,
  importProfiles: 100_000,
  seconds: 8,
  warmUpSeconds: 8,
  rounds: 5,
  pendingDeliveries: 10_000,
  latencySamples: 100,
  questions: 60,
};

export const SMALL: Size = {
  folder: 'small',
  made: 1_000,
  importProfiles: 1_000,
  seconds: 1,
  warmUpSeconds: 0.5,
  rounds: 1,
  pendingDeliveries: 200,
  latencySamples: 5,
  questions: 8,
};

export interface Keys {
  public: string;
  secret: string;
}

export interface Context {
  size: Size;
  server: Server;
  /** The folder of this size's data, logs and exports. */
  folder: string;
  /** Whether to ask every chart question instead of a sample. */
  isAll: boolean;
  log: (message: string) => void;
  note: (text: string) => void;
  large: () => Promise<Dataset>;
  /** The data set that is a tenth of the large one. */
  small: () => Promise<Dataset>;
}

export interface Benchmark {
  name: string;
  title: string;
  run: (context: Context) => Promise<Row[]>;
}

export function createContext(parts: Omit<Context, 'large' | 'small'>): Context {
  let datasets: ReturnType<typeof provideDatasets> | undefined;
  const provide = () => {
    datasets ??= provideDatasets(parts.server, { made: parts.size.made, log: parts.log });
    return datasets;
  };
  return { ...parts, large: async () => (await provide()).large, small: async () => (await provide()).small };
}

/** Issues keys of the made-up app for this run. */
export async function issueKeys({ url, app }: Dataset): Promise<Keys> {
  const session = await openBenchSession(url);
  try {
    const issue = async (kind: 'public' | 'secret') => (await createKey(session, { appId: app.app_id, kind })).key;
    return { public: await issue('public'), secret: await issue('secret') };
  } finally {
    await session.close();
  }
}
