// Which charts take which segmentations and filters: the two tables of interface 4.2.
import type { DimensionName } from './dimensions.ts';

type Names = readonly DimensionName[];

const LABEL: Names = [
  'attribution_status',
  'attribution_channel',
  'attribution_campaign',
  'attribution_adgroup',
  'attribution_adset',
  'attribution_creative',
];
const PROFILE: Names = ['country', 'store', ...LABEL, 'attribution_source'];
const PURCHASE: Names = [...PROFILE, 'store_product_id', 'paywall_id', 'audience_id', 'placement_id', 'duration'];
const OFFER: Names = ['offer_category', 'offer_type', 'offer_id'];

/** The table of segmentations: a chart belongs to one of its groups. */
export const SEGMENTATIONS = {
  arpu: [...PROFILE, 'period'],
  state: [...PURCHASE, 'renewal_status', 'period', ...OFFER],
  arppu: [...PURCHASE, 'renewal_status', 'period'],
  start: [...PURCHASE, ...OFFER],
  expiry: [...PURCHASE, 'cancellation_reason'],
  purchase: PURCHASE,
  install: PROFILE,
} as const satisfies Record<string, Names>;

/** Every segmentation that some chart takes. */
export const EVERY_SEGMENTATION: Names = [...new Set(Object.values(SEGMENTATIONS).flat())];

export type SegmentationGroup = keyof typeof SEGMENTATIONS;

const ATTRIBUTION: Names = ['attribution_source', ...LABEL];

interface FilterVariant {
  dimensions: Names;
  /** Whether the chart takes `compare_date`. */
  compares: boolean;
}

/** The table of filters; dimensions are listed in its order. */
export const FILTERS = {
  A: { dimensions: ['store', 'country', ...ATTRIBUTION], compares: false },
  B: { dimensions: ['store', 'country', 'store_product_id', 'duration', ...ATTRIBUTION], compares: false },
  C: { dimensions: ['store', 'country', 'store_product_id', 'duration', ...ATTRIBUTION, ...OFFER], compares: true },
} as const satisfies Record<string, FilterVariant>;

export type FilterVariantName = keyof typeof FILTERS;
