// Counts what became of the records that an import has read.
import type { Batch } from './batches.ts';
import type { ProductKey, Written } from './kind.ts';
import { MAX_NAMES } from './unknown-names.ts';

export interface Counts {
  read: number;
  written: number;
  unchanged: number;
  rejected: number;
}

export interface Tally {
  readonly counts: Readonly<Counts>;
  add: <T>(batch: Batch<T>, outcome: Written) => void;
  /** Products that the app does not have, at most the first MAX_NAMES. */
  unconfigured: () => ProductKey[];
}

export function createTally(): Tally {
  const counts: Counts = { read: 0, written: 0, unchanged: 0, rejected: 0 };
  const products = new Map<string, ProductKey>();
  return {
    counts,
    add({ items, rejects }, { written, refused, unconfigured = [] }) {
      counts.read += items.length + rejects.length;
      counts.written += written;
      counts.unchanged += items.length - written - refused.size;
      counts.rejected += rejects.length + refused.size;
      for (const product of unconfigured) {
        const { store, store_product_id } = product;
        if (products.size < MAX_NAMES) products.set(JSON.stringify([store, store_product_id]), product);
      }
    },
    unconfigured: () => [...products.values()],
  };
}
