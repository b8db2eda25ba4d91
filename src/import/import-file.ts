// Imports a file: read in batches, each committed whole unless it collides with requests (collisions.ts). One batch is read while those
// before are being written, at most two, so memory stays flat.
// An import that was cut off, by kill -9 too, is run again: what it had written changes nothing the second time.
import { openSession, type Session } from '../db/session.ts';
import { analyzeApps, analyzeKeys, analyzeSmallTables } from '../db/statistics.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import type { FieldError } from '../errors.ts';
import type { TransactionRecord } from '../purchases/record.ts';
import { type Batch, type Parse, readBatches } from './batches.ts';
import { writeDespiteCollisions } from './collisions.ts';
import { createCsvForm } from './columns.ts';
import { lockFile } from './file-lock.ts';
import { createLanes } from './lanes.ts';
import { createPassedOver, MOST_NAMED } from './passed-over.ts';
import { createRejects, type Reject, toReason } from './rejects.ts';
import { interrupted, openSource } from './source.ts';

const LONGEST_STATEMENT_MS = 600_000;
/** Tables are looked at again when so many times as much was read: each look takes longer than writing a hundred records. */
const NEXT_LOOK = 1.25;
/** To look takes longer than to write fewer records than this, which tell the planner nothing. */
const FIRST_LOOK = 500;

export type ProductKey = Pick<TransactionRecord, 'store' | 'store_product_id'>;

/** What was done with the records of a batch; those neither written nor refused were there already. */
export interface Written {
  written: number;
  /** By the index of the record. */
  refused: ReadonlyMap<number, FieldError>;
  /** Products of records that were taken, which the app does not have. */
  unconfigured?: readonly ProductKey[];
}

/** One kind of record. */
export interface Kind<T> {
  /** From which the columns of a CSV are read. */
  schema: object;
  parse: Parse<T>;
  /**
   * What a record is about, first whose it is. The order in which records are written must not matter unless they have a name in
   * common; batches without one are written at once. Absent: one batch after the other.
   */
  namesOf?: (record: T) => string[];
  /** That grow with what is written. */
  tables: readonly (keyof DB)[];
  /** That have the names in its records once. */
  dimensions?: readonly (keyof DB)[];
  /** Writes the records in one transaction, with the outcome of writing them one after the other. */
  write: (session: Session, context: WriteContext, records: readonly T[]) => Promise<Written>;
}

export interface WriteContext {
  app: App;
  now: () => Date;
  /** To be called when the database has all that it needs, and only has to work. */
  onHandedOver: () => void;
}

interface Counts {
  read: number;
  written: number;
  unchanged: number;
  rejected: number;
}

export interface Summary extends Counts {
  /** Where they are; absent where none was rejected. */
  rejects_file?: string;
  /** Where those of earlier runs are; absent where there are none, or none but the first of these. */
  earlier_rejects_files?: readonly string[];
  /** Names of members or columns that no record has, the first MOST_NAMED; absent where there are none. */
  passed_over?: readonly string[];
  /** Products of transactions that were taken, but that the app does not have, so that they open no access level; likewise. */
  unconfigured_products?: readonly ProductKey[];
}

export interface ImportOptions {
  connectionString: string;
  app: App;
  file: string;
  now: () => Date;
  /** After each batch. */
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

/** Records that are refused are in FILE.rejects.ndjson; the good ones are kept. Throws an OperatorError if it cannot begin. */
export async function importFile<T>(kind: Kind<T>, options: ImportOptions): Promise<Summary> {
  const { connectionString, app, file, now, onProgress, signal } = options;
  const passedOver = createPassedOver(kind.schema);
  const form = { ...createCsvForm(kind.schema), onPassedOver: passedOver.add };
  const source = await openSource(file, form, signal);
  const open = () =>
    openSession({ connectionString, statementTimeoutMs: LONGEST_STATEMENT_MS, applicationName: 'sps-import' });
  const first = await open().catch((error: unknown) => {
    source.close();
    throw error;
  });
  const lanes = createLanes<Written>({ first, most: kind.namesOf ? 2 : 1, openSession: open });
  const rejectsFile = createRejects(file);
  const counts: Counts = { read: 0, written: 0, unchanged: 0, rejected: 0 };

  async function write({ items }: Batch<T>, session: Session, onHandedOver: () => void): Promise<Written> {
    const batch = items.map(({ record }) => record);
    return writeDespiteCollisions(batch, (records) => {
      if (signal?.aborted) throw interrupted();
      return kind.write(session, { app, now, onHandedOver }, records);
    });
  }

  async function informPlanner({ db }: Session): Promise<void> {
    await analyzeKeys(db, kind.tables);
    if (kind.dimensions) await analyzeSmallTables(db, kind.dimensions);
    await analyzeApps(db, { tables: kind.tables, appKey: app.app_key });
  }

  const unconfigured = new Map<string, ProductKey>();
  let lookedAt = 0;
  async function tell(batch: Batch<T>, session: Session, outcome: Written): Promise<void> {
    const { items } = batch;
    const { written, refused } = outcome;
    for (const product of outcome.unconfigured ?? []) {
      const { store, store_product_id } = product;
      if (unconfigured.size < MOST_NAMED) unconfigured.set(JSON.stringify([store, store_product_id]), product);
    }
    const rejects = rejectsOf(batch, refused);
    await rejectsFile.write(rejects);
    counts.read += items.length + batch.rejects.length;
    counts.written += written;
    counts.unchanged += items.length - written - refused.size;
    counts.rejected += rejects.length;
    if (counts.read >= Math.max(FIRST_LOOK, NEXT_LOOK * lookedAt)) {
      lookedAt = counts.read;
      await informPlanner(session);
    }
    onProgress?.({ ...counts, bytes: batch.endBytes, sizeBytes: source.sizeBytes });
  }

  const { namesOf } = kind;
  const parse: Parse<T> = (value) => {
    passedOver.watch(value);
    return kind.parse(value);
  };
  const isOfOne = namesOf && ((one: T, next: T) => namesOf(one)[0] === namesOf(next)[0]);
  try {
    await lockFile(first, file);
    await rejectsFile.putAside();
    let isFirst = true;
    for await (const batch of readBatches(source, parse, isOfOne)) {
      // The others wait for the first, after which the planner knows of the tables.
      const names = namesOf && !isFirst ? listNames(batch, namesOf) : undefined;
      isFirst = false;
      // The next batch is not read while this one is handed over: the two would only take turns.
      await lanes.begin({
        names,
        write: (session, onHandedOver) => write(batch, session, onHandedOver),
        tell: (session, written) => tell(batch, session, written),
      });
    }
    await lanes.finish();
    const earlier = await rejectsFile.settleEarlier();
    const names = passedOver.names();
    return {
      ...counts,
      ...(counts.rejected > 0 && { rejects_file: rejectsFile.path }),
      ...(earlier.length > 0 && { earlier_rejects_files: earlier }),
      ...(names.length > 0 && { passed_over: names }),
      ...(unconfigured.size > 0 && { unconfigured_products: [...unconfigured.values()] }),
    };
  } finally {
    source.close();
    await lanes.close();
    await rejectsFile.close();
  }
}
