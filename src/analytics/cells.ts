// What the database gives and series are made of.

/** Sums of one bucket of one series. */
export interface Cell {
  place: 'total' | 'segment' | 'other';
  /** The value of the dimension; empty for none, and beside segments. */
  segment: string;
  /** What is summed, or what it is divided by. */
  side: 'entries' | 'per';
  /** 0 is the date, 1 the compare_date. */
  span: 0 | 1;
  /** From 1; null where distinct profiles of the whole span are counted. */
  bucket: number | null;
  /** Of entries per key of the chart, in 10^-9 USD or counts; of stocks what each bucket changes. */
  sums: bigint[];
}

/** Made in one turn of the event loop, about 20 ms. A chart in JSON needs few such turns, of which each may wait 10 ms for the others; a CSV about fifty. */
export const CELLS_AT_ONCE = 20_000;
