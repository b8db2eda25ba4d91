// Cells, the figures of a chart: database statements and column scans produce them, and series are assembled from them.

/** Sums of one bucket of one series. */
export interface Cell {
  place: 'total' | 'segment' | 'other';
  /** The value of the dimension. Empty for facts without a value, and for the total and "other". */
  segment: string;
  /** Whether the cell holds what is summed, or what the sum is divided by. */
  side: 'entries' | 'per';
  /** 0 for `date`, 1 for `compare_date`. */
  span: 0 | 1;
  /** From 1; null for distinct profiles, counted over the whole span. */
  bucket: number | null;
  /**
   * For entries, a sum per key of the chart, in 10^-9 USD or as a count; for stocks by purchase date, the change in the
   * bucket.
   */
  sums: bigint[];
}

/**
 * How many cells are made in one turn of the event loop, about 20 ms. A chart in JSON needs a few such turns, a CSV
 * about fifty; each may wait 10 ms for other requests.
 */
export const CELLS_AT_ONCE = 20_000;
