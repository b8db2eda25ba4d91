// What an import has to know of a kind of record, to read and write those of a file.
import type { Session } from '../db/session.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import type { FieldError } from '../errors.ts';
import type { TransactionRecord } from '../purchases/record.ts';
import type { Parse } from './batches.ts';

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
