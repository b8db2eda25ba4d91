// The dimensions by which charts are segmented and filtered (interface 4.2): where the facts store each, which filter
// values it takes, and how its values are titled. The README says what else a new one needs. Pure.
import { DURATIONS, PERIODS, REASONS, RENEWAL_STATUSES } from '../facts/codes.ts';
import type { FACT_COLUMNS } from '../facts/columns.ts';
import { ATTRIBUTION_STATUSES, OFFER_CATEGORIES, OFFER_TYPES } from '../facts/values.ts';
import { countryTitle, listedTitle, storeTitle } from './titles.ts';

/** A column of the facts that is also kept by column. Scans of columns would ignore filters on any other. */
type FactColumn = keyof typeof FACT_COLUMNS;

/** Where the facts store it: as a key into a column of a dim_ table, or as the index into a list of codes. */
export type Home =
  | { column: FactColumn; table: string; value: string }
  | { column: FactColumn; codes: readonly string[] };

export interface Dimension {
  name: string;
  home: Home;
  /** Whether installs have it. A dimension that they lack splits only transactions. */
  ofInstalls: boolean;
  /** All possible values; other filter values are refused. Matched in any case, with `-` read as `_`. */
  closed?: readonly string[];
  /** Other spellings of closed filter values. */
  spellings?: ReadonlyMap<string, string>;
  /** Returns the readable form of a value. Without it, the value is its own title. */
  titleOf?: (value: string) => string;
}

function attribution(column: string): Pick<Dimension, 'home' | 'ofInstalls'> {
  return { home: { column: 'attribution_key', table: 'dim_attribution', value: column }, ofInstalls: true };
}

function placement(column: string): Pick<Dimension, 'home' | 'ofInstalls'> {
  return { home: { column: 'placement_key', table: 'dim_placement', value: column }, ofInstalls: false };
}

function offer(column: string): Pick<Dimension, 'home' | 'ofInstalls'> {
  return { home: { column: 'offer_key', table: 'dim_offer', value: column }, ofInstalls: false };
}

function coded(column: FactColumn, codes: readonly string[]): Pick<Dimension, 'home' | 'ofInstalls' | 'titleOf'> {
  return { home: { column, codes }, ofInstalls: false, titleOf: listedTitle };
}

const RECORDS = {
  country: {
    home: { column: 'country_key', table: 'dim_country', value: 'country' },
    ofInstalls: true,
    titleOf: countryTitle,
  },
  store: {
    home: { column: 'store_key', table: 'dim_store', value: 'store' },
    ofInstalls: true,
    titleOf: storeTitle,
  },
  attribution_status: { ...attribution('status'), closed: ATTRIBUTION_STATUSES, titleOf: listedTitle },
  attribution_channel: attribution('channel'),
  attribution_campaign: attribution('campaign'),
  attribution_adgroup: attribution('ad_group'),
  attribution_adset: attribution('ad_set'),
  attribution_creative: attribution('creative'),
  attribution_source: attribution('source'),
  store_product_id: {
    home: { column: 'product_key', table: 'dim_product', value: 'store_product_id' },
    ofInstalls: false,
  },
  paywall_id: placement('paywall_id'),
  audience_id: placement('audience_id'),
  placement_id: placement('placement_id'),
  duration: { ...coded('duration', DURATIONS), closed: DURATIONS },
  renewal_status: coded('renewal_status', RENEWAL_STATUSES),
  period: coded('period', PERIODS),
  offer_category: {
    ...offer('offer_category'),
    closed: OFFER_CATEGORIES,
    spellings: new Map([
      ['no_offer', ''],
      ['winback', 'win_back'],
    ]),
    titleOf: listedTitle,
  },
  offer_type: {
    ...offer('offer_type'),
    closed: OFFER_TYPES,
    spellings: new Map([['no_offer', '']]),
    titleOf: listedTitle,
  },
  offer_id: offer('offer_id'),
  cancellation_reason: coded('cancellation_reason', REASONS),
} as const satisfies Record<string, Omit<Dimension, 'name'>>;

export type DimensionName = keyof typeof RECORDS;

export function dimension(name: DimensionName): Dimension {
  return { name, ...RECORDS[name] };
}

/** Returns all possible values except the empty one; undefined if any recorded value is possible. */
export function valuesOf({ home, closed }: Pick<Dimension, 'home' | 'closed'>): readonly string[] | undefined {
  return 'codes' in home ? home.codes.filter((one) => one !== '') : closed;
}

/**
 * Returns a filter value as the facts store it; undefined if the dimension has no such value. The empty value means
 * none.
 */
export function readFilterValue(dimension: Dimension, value: string): string | undefined {
  if (value === '') return value;
  if (dimension.name === 'country') return /^[A-Za-z]{2}$/.test(value) ? value.toLowerCase() : undefined;
  if (!dimension.closed) return value;
  const folded = fold(value);
  return dimension.spellings?.get(folded) ?? dimension.closed.find((one) => fold(one) === folded);
}

function fold(value: string): string {
  return value.toLowerCase().replaceAll('-', '_');
}
