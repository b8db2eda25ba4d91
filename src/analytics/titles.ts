// The titles of dimension values in an answer: "United States", "App Store", "Renewal 6+".
import type { Dimension } from './dimensions.ts';
import type { Series } from './series.ts';

const NO_VALUE_TITLE = 'Unknown';

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** Returns the title of a country, given as two lower-case letters. */
export function countryTitle(value: string): string {
  return countries.of(value.toUpperCase()) ?? value.toUpperCase();
}

const STORES: Readonly<Record<string, string>> = {
  app_store: 'App Store',
  play_store: 'Play Store',
  stripe: 'Stripe',
};

/** Returns the default title of a store. An app can give its stores others (`sps store set --title`). */
export function storeTitle(value: string): string {
  return Object.hasOwn(STORES, value) ? STORES[value]! : value;
}

const IRREGULAR: Readonly<Record<string, string>> = {
  non_organic: 'Non-organic',
  renewal_6_plus: 'Renewal 6+',
  one_time: 'One-time',
  win_back: 'Win-back',
  none: 'None',
};

/** Turns a value from one of our own lists into words. */
export function listedTitle(value: string): string {
  return IRREGULAR[value] ?? `${value.charAt(0).toUpperCase()}${value.slice(1).replaceAll('_', ' ')}`;
}

/** The titles that an app gave its stores, by store. */
export type StoreTitles = ReadonlyMap<string, string>;

export function titleOfSeries(
  segmentation: Dimension | null,
  { place, segment }: Pick<Series, 'place' | 'segment'>,
  storeTitles: StoreTitles,
): string {
  if (place === 'total') return 'Total';
  if (place === 'other') return 'Other';
  if (segment === '') return NO_VALUE_TITLE;
  const given = segmentation?.name === 'store' ? storeTitles.get(segment) : undefined;
  return given ?? segmentation?.titleOf?.(segment) ?? segment;
}
