// Imports a file. It is read in batches, each committed whole unless it collides with requests (collisions.ts). One
// batch is read while at most two earlier ones are being written, so memory stays flat. An import that was cut off,
// even by kill -9, can simply be run again: what it had written changes nothing the second time.
import { openSession, type Session } from '../db/session.ts';
import type { App } from '../deps.ts';
import { type Batch, type Parse, readBatches } from './batches.ts';
import { writeDespiteCollisions } from './collisions.ts';
import { createCsvForm } from './csv-form.ts';
import { lockFile } from './file-lock.ts';
import type { Kind, ProductKey, Written } from './kind.ts';
import { createLanes } from './lanes.ts';
import { createRejects, type Reject, type RejectsFile, toReason } from './rejects.ts';
import { interrupted, openSource } from './source.ts';
import { createStatisticsRefresher } from './statistics-refresher.ts';
import { type Counts, createTally, type Tally } from './tally.ts';
import { createUnknownNames } from './unknown-names.ts';

const STATEMENT_TIMEOUT_MS = 600_000;

export interface Summary extends Counts {
  /** Path of the rejects file; absent if nothing was rejected. */
  rejects_file?: string;
  /**
   * Rejects files kept from earlier runs; absent if there are none. One whose rejects are merely the first of this
   * run's is not kept.
   */
  earlier_rejects_files?: readonly string[];
  /** Names of unknown members or columns, at most the first MAX_NAMES; absent if there are none. */
  unknown_names?: readonly string[];
  /**
   * Products that accepted transactions name but the app does not have, so that they open no access level; limited and
   * absent likewise.
   */
  unconfigured_products?: readonly ProductKey[];
}

export interface ImportOptions {
  connectionString: string;
  app: App;
  file: string;
  now: () => Date;
  /** Called after each batch. */
  onProgress?: (progress: Counts & { bytes: number; sizeBytes: number }) => void;
  signal?: AbortSignal;
}

function rejectsOf<T>({ items, rejects }: Batch<T>, refused: Written['refused']): Reject[] {
  const late = [...refused].map(([index, fault]): Reject => {
    const { line, value } = items[index]!;
    return { line, reason: toReason([fault]), record: value };
  });
  return late.length === 0 ? rejects : [...rejects, ...late].sort((a, b) => a.line - b.line);
}

function listNames<T>({ items }: Batch<T>, namesOf: (record: T) => string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { record } of items) for (const name of namesOf(record)) names.add(name);
  return names;
}

/** Removes rejects files that this run's makes superfluous. */
async function summarise(
  { counts, unconfigured }: Tally,
  rejectsFile: RejectsFile,
  names: readonly string[],
): Promise<Summary> {
  const earlier = await rejectsFile.cleanUpEarlier();
  const products = unconfigured();
  return {
    ...counts,
    ...(counts.rejected > 0 && { rejects_file: rejectsFile.path }),
    ...(earlier.length > 0 && { earlier_rejects_files: earlier }),
    ...(names.length > 0 && { unknown_names: names }),
    ...(products.length > 0 && { unconfigured_products: products }),
  };
}

/**
 * Imports the file. Rejected records go to FILE.rejects.ndjson; the good ones are kept. Throws an OperatorError if it
 * cannot begin.
 */
export async function importFile<T>(kind: Kind<T>, options: ImportOptions): Promise<Summary> {
  const { connectionString, app, file, now, onProgress, signal } = options;
  const { namesOf } = kind;
  const unknownNames = createUnknownNames(kind.schema);
  const form = { ...createCsvForm(kind.schema), onUnknownColumns: unknownNames.add };
  const source = await openSource(file, form, signal);
  const open = () =>
    openSession({ connectionString, statementTimeoutMs: STATEMENT_TIMEOUT_MS, applicationName: 'sps-import' });
  const first = await open().catch((error: unknown) => {
    source.close();
    throw error;
  });
  const lanes = createLanes<Written>({ first, maxConcurrent: namesOf ? 2 : 1, openSession: open });
  const rejectsFile = createRejects(file);
  const tally = createTally();
  const refreshStatistics = createStatisticsRefresher(kind, app);

  async function write({ items }: Batch<T>, session: Session, onHandedOver: () => void): Promise<Written> {
    const batch = items.map(({ record }) => record);
    return writeDespiteCollisions(batch, (records) => {
      if (signal?.aborted) throw interrupted();
      return kind.write(session, { app, now, onHandedOver }, records);
    });
  }

  async function report(batch: Batch<T>, session: Session, outcome: Written): Promise<void> {
    await rejectsFile.write(rejectsOf(batch, outcome.refused));
    tally.add(batch, outcome);
    await refreshStatistics(session, tally.counts.read);
    onProgress?.({ ...tally.counts, bytes: batch.endBytes, sizeBytes: source.sizeBytes });
  }

  const parse: Parse<T> = (value) => {
    unknownNames.check(value);
    return kind.parse(value);
  };
  const haveSameOwner = namesOf && ((one: T, next: T) => namesOf(one)[0] === namesOf(next)[0]);
  try {
    await lockFile(first, file);
    await rejectsFile.setAside();
    let isFirst = true;
    for await (const batch of readBatches(source, parse, haveSameOwner)) {
      // The first batch is written alone: after it, the planner has statistics for the tables.
      const names = namesOf && !isFirst ? listNames(batch, namesOf) : undefined;
      isFirst = false;
      // The next batch is not read while this one is being handed over: the two would only take turns.
      await lanes.begin({
        names,
        write: (session, onHandedOver) => write(batch, session, onHandedOver),
        report: (session, written) => report(batch, session, written),
      });
    }
    await lanes.finish();
    return await summarise(tally, rejectsFile, unknownNames.names());
  } finally {
    source.close();
    await lanes.close();
    await rejectsFile.close();
  }
}
