// Chart questions from the service's own catalogue: unfiltered ones for every chart, range and segmentation, and
// filtered ones. A seed decides which are asked, so that every run asks the same.
import { formatDate } from '../../src/analytics/calendar.ts';
import { CHART_IDS, type ChartId, chart, filtersOf, segmentationsOf } from '../../src/analytics/catalogue.ts';
import type { DimensionName } from '../../src/analytics/dimensions.ts';
import { type Random, randomOf } from '../data/random.ts';
import { pickAttribution, pickCountry, pickPlacement, pickProduct, pickStore } from '../data/vocabulary.ts';

export interface Question {
  chart_id: ChartId;
  period_unit: 'month' | 'day';
  /** Both inclusive, YYYY-MM-DD. */
  first: string;
  last: string;
  segmentation: DimensionName | null;
  filters: Partial<Record<DimensionName, string[]>>;
}

type Range = Pick<Question, 'period_unit' | 'first' | 'last'>;

const DAY_MS = 86_400_000;

/** Returns the last 12 whole months and the last 90 whole days of the data, moved back by `earlier` units. */
function listRanges(end: number, earlier = 0): Range[] {
  const date = new Date(end);
  const month = (shift: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + shift, 1) / DAY_MS;
  const today = Math.floor(end / DAY_MS);
  return [
    { period_unit: 'month', first: formatDate(month(-12 - earlier)), last: formatDate(month(-earlier) - 1) },
    { period_unit: 'day', first: formatDate(today - 90 - earlier), last: formatDate(today - 1 - earlier) },
  ];
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const order = items.map((item) => ({ item, place: random.next() }));
  return order.sort((a, b) => a.place - b.place).map(({ item }) => item);
}

function listUnfiltered(ranges: readonly Range[], count: number | undefined): Question[] {
  const all = CHART_IDS.filter((id) => id !== 'arppu').flatMap((chart_id) =>
    [null, ...segmentationsOf(chart(chart_id))].flatMap((segmentation) =>
      ranges.map((range): Question => ({ chart_id, ...range, segmentation, filters: {} })),
    ),
  );
  return count === undefined ? all : shuffle(all, randomOf(6, 1)).slice(0, count);
}

/** Returns a sample of `count` unfiltered questions, or all of them if `count` is undefined. */
export function listPlain(end: number, count: number | undefined): Question[] {
  return listUnfiltered(listRanges(end), count);
}

/**
 * Returns the same for the last twelve months, including the one that is not over; on its first day it has no data yet.
 */
export function listOpen(end: number, count: number | undefined): Question[] {
  const [months] = listRanges(end, -1);
  const yesterday = formatDate(Math.floor(end / DAY_MS) - 1);
  return listUnfiltered([{ ...months!, last: yesterday }], count);
}

const OFFERS: Partial<Record<DimensionName, readonly string[]>> = {
  offer_category: ['introductory', 'promotional', 'offer_code', 'win_back', ''],
  offer_type: ['free_trial', 'pay_as_you_go', 'pay_up_front', ''],
  offer_id: ['promotional_0', 'promotional_1', 'offer_code_0', ''],
};

/** Picks a value that occurs in the facts, frequent ones more often. */
function pickValue(dimension: DimensionName, random: Random): string {
  const attribution = pickAttribution(random);
  switch (dimension) {
    case 'country':
      return pickCountry(random)[0];
    case 'store':
      return pickStore(random)[0];
    case 'store_product_id':
      return pickProduct(random).store_product_id;
    case 'duration':
      return pickProduct(random).duration;
    case 'attribution_status':
      return attribution.status;
    case 'attribution_channel':
      return attribution.channel ?? '';
    case 'attribution_campaign':
      return attribution.campaign ?? '';
    case 'attribution_adgroup':
      return attribution.ad_group ?? '';
    case 'attribution_adset':
      return attribution.ad_set ?? '';
    case 'attribution_creative':
      return attribution.creative ?? '';
    case 'attribution_source':
      return 'custom';
    case 'paywall_id':
      return pickPlacement(random).paywall_id ?? '';
    default: {
      const values = OFFERS[dimension] ?? [''];
      return values[random.below(values.length)] as string;
    }
  }
}

function pickFilters(chart_id: ChartId, random: Random, minFilters: number): Question['filters'] {
  const dimensions = shuffle(filtersOf(chart(chart_id)).dimensions, random);
  const filters: Question['filters'] = {};
  for (const dimension of dimensions.slice(0, minFilters + random.below(4 - minFilters))) {
    const values = Array.from({ length: random.chance(0.3) ? 2 : 1 }, () => pickValue(dimension, random));
    filters[dimension] = [...new Set(values)];
  }
  return filters;
}

/** Returns questions with `minFilters` to three filters each, about the given charts in turn. */
export function listFiltered(
  end: number,
  {
    charts,
    count,
    minFilters = 1,
    seed,
  }: { charts: readonly ChartId[]; count: number; minFilters?: number; seed: number },
): Question[] {
  const random = randomOf(7, seed);
  const ranges = listRanges(end);
  return Array.from({ length: count }, (_, number): Question => {
    const chart_id = charts[number % charts.length] as ChartId;
    const segmentations = [null, ...segmentationsOf(chart(chart_id))];
    return {
      chart_id,
      ...(ranges[random.below(ranges.length)] as Range),
      segmentation: segmentations[random.below(segmentations.length)] as DimensionName | null,
      filters: pickFilters(chart_id, random, minFilters),
    };
  });
}

/** Returns the same question about an earlier time, which warms up what the question needs without answering it. */
export function askedEarlier(question: Question, end: number): Question {
  const [months, days] = listRanges(end, 1) as [Range, Range];
  return { ...question, ...(question.period_unit === 'month' ? months : days) };
}

export function describe({ chart_id, period_unit, segmentation, filters }: Question): string {
  const by = segmentation ? ` by ${segmentation}` : '';
  const where = Object.entries(filters).map(([name, values]) => `${name} = ${values?.join(' or ')}`);
  return `${chart_id} per ${period_unit}${by}${where.length > 0 ? ` where ${where.join(', ')}` : ''}`;
}
