// The series of an answer under keys that go into the address, and which of them are drawn. Pure.
import type { Series } from '../service/answers.ts';
import { tellApart } from './filter-values.ts';

export const TOTAL = 'total';

/** A place among the colours of segments; the total beside segments, the total alone, the total of the compared days. */
export type Colour = number | 'total' | 'alone' | 'compared';

const REST = 'rest';
/** As many as there are colours that can be told apart. */
const COLOURS = 8;

export interface KeyedSeries extends Series {
  /** `total`, `=` and the value of a segment, or `rest`. */
  key: string;
  colour: Colour;
}

/** The total first, then segments as the service orders them. Only a second series of a value can be the rest. */
export function keySeries(list: readonly Series[]): KeyedSeries[] {
  const taken = new Set<string>();
  const keyed = list.map((series, i) => {
    const own = i === 0 ? TOTAL : `=${series.type}`;
    const key = taken.has(own) ? REST : own;
    taken.add(key);
    const ownColour = list.length > 1 ? 'total' : 'alone';
    return { ...series, key, colour: i > 0 ? (i - 1) % COLOURS : ownColour } as const;
  });
  const titles = tellApart(keyed.map(({ type, title }) => ({ value: type, title })));
  return keyed.map((series, i) => ([TOTAL, REST].includes(series.key) ? series : { ...series, title: titles[i]! }));
}

/** Keys of what is drawn: those chosen, else the total and the largest segments; so, too, where none of them is there. */
export function drawnKeys(series: readonly KeyedSeries[], chosen: readonly string[] | null): string[] {
  const keys = series.map(({ key }) => key);
  const found = keys.filter((key) => chosen?.includes(key));
  // To switch all off is a choice.
  return found.length > 0 || chosen?.length === 0 ? found : keys.slice(0, COLOURS + 1);
}

/** The choice after one series was switched; null where it is again the usual one. */
export function switchKey(
  series: readonly KeyedSeries[],
  chosen: readonly string[] | null,
  key: string,
): string[] | null {
  const drawn = drawnKeys(series, chosen);
  const switched = drawn.includes(key) ? drawn.filter((one) => one !== key) : [...drawn, key];
  const next = drawnKeys(series, switched);
  return next.join('\n') === drawnKeys(series, null).join('\n') ? null : next;
}
