// What an import needs to know about a kind of record in order to read and write a file of them.
import type { Session } from '../db/session.ts';
import type { DB } from '../db/types.ts';
import type { App } from '../deps.ts';
import type { FieldError } from '../errors.ts';
import type { TransactionRecord } from '../purchases/record.ts';
import type { Parse } from './batches.ts';

export type ProductKey = Pick<TransactionRecord, 'store' | 'store_product_id'>;

/** The outcome of writing a batch; records neither written nor refused were there already. */
export interface Written {
  written: number;
  /** By index of the record. */
  refused: ReadonlyMap<number, FieldError>;
  /** Products that accepted records name but the app does not have. */
  unconfigured?: readonly ProductKey[];
}

export interface Kind<T> {
  /** The schema from which the columns of a CSV are derived. */
  schema: object;
  parse: Parse<T>;
  /**
   * Names what a record concerns, its owner first. The order in which records are written may matter only if they have
   * a name in common; batches that have none are written concurrently. If absent, batches are written one after the
   * other.
   */
  namesOf?: (record: T) => string[];
  /** Tables that grow with what is written. */
  tables: readonly (keyof DB)[];
  /** Tables that hold each name in its records once. */
  dimensions?: readonly (keyof DB)[];
  /** Writes the records in one transaction, with the same result as writing them one after the other. */
  write: (session: Session, context: WriteContext, records: readonly T[]) => Promise<Written>;
}

export interface WriteContext {
  app: App;
  now: () => Date;
  /** To be called when the database has all the data it needs and only has to work. */
  onHandedOver: () => void;
}
