// Gives the series of an answer the keys that go into the address, and decides which of them are drawn. Pure.
import type { Series } from '../service/answers.ts';
import { distinctTitles } from './filter-values.ts';

export const TOTAL = 'total';

/** A segment's position among the colours, or one of the total's: beside segments, alone, over the compared days. */
export type Colour = number | 'total' | 'alone' | 'compared';

const REST = 'rest';
/** How many colours can be told apart. */
const COLOURS = 8;

export interface KeyedSeries extends Series {
  /** `total`, `=` followed by the value of a segment, or `rest`. */
  key: string;
  colour: Colour;
}

/**
 * Keys the series: the total first, then segments as the service orders them. The second series of a value is the rest.
 */
export function keySeries(list: readonly Series[]): KeyedSeries[] {
  const taken = new Set<string>();
  const keyed = list.map((series, i) => {
    const own = i === 0 ? TOTAL : `=${series.type}`;
    const key = taken.has(own) ? REST : own;
    taken.add(key);
    const ownColour = list.length > 1 ? 'total' : 'alone';
    return { ...series, key, colour: i > 0 ? (i - 1) % COLOURS : ownColour } as const;
  });
  const titles = distinctTitles(keyed.map(({ type, title }) => ({ value: type, title })));
  return keyed.map((series, i) => ([TOTAL, REST].includes(series.key) ? series : { ...series, title: titles[i]! }));
}

/**
 * Returns the keys of the drawn series: those chosen or, by default and if none of these exists, the total and the
 * largest segments.
 */
export function drawnKeys(series: readonly KeyedSeries[], chosen: readonly string[] | null): string[] {
  const keys = series.map(({ key }) => key);
  const found = keys.filter((key) => chosen?.includes(key));
  // Switching all of them off is a choice, too.
  return found.length > 0 || chosen?.length === 0 ? found : keys.slice(0, COLOURS + 1);
}

/** Returns the choice after one series was switched; null if that is the default again. */
export function toggleSeries(
  series: readonly KeyedSeries[],
  chosen: readonly string[] | null,
  key: string,
): string[] | null {
  const drawn = drawnKeys(series, chosen);
  const switched = drawn.includes(key) ? drawn.filter((one) => one !== key) : [...drawn, key];
  const next = drawnKeys(series, switched);
  return next.join('\n') === drawnKeys(series, null).join('\n') ? null : next;
}
