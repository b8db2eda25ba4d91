// Generated questions about generated histories; and answers in the shape that the oracle gives.
import fc from 'fast-check';
import { CHART_IDS, chart, filtersOf, segmentationsOf } from '../../src/analytics/catalogue.ts';
import { askChart, type Home } from './import.ts';
import type { OracleSeries, Question } from './oracle.ts';

/** Values that occur in the generated histories. */
const FILTER_VALUES: Record<string, string[]> = {
  store: ['app_store', 'play_store', 'stripe', 'acme', ''],
  country: ['us', 'de', 'jp', ''],
  store_product_id: ['monthly', 'annual', 'unconfigured', 'weekly'],
  duration: ['Monthly', 'Annual', 'Uncategorized', '3 months', 'Lifetime'],
  attribution_source: ['custom', 'Custom', 'apple_search_ads', ''],
  attribution_status: ['organic', 'non_organic', 'unknown', ''],
  attribution_channel: ['social', ''],
  attribution_campaign: ['spring', 'Spring', 'émigré', ''],
  offer_category: ['introductory', 'promotional', 'win_back', ''],
  offer_type: ['free_trial', 'pay_as_you_go', 'pay_up_front', ''],
  offer_id: ['back10', 'Back10', ''],
};

const RANGES = [
  ['2025-01-01', '2025-03-31'],
  ['2024-12-11', '2025-01-15'],
  ['2025-03-01', '2025-05-31'],
  ['2025-04-20'],
  ['2025-04-08', '2025-04-20'],
  ['2024-11-01', '2025-04-20'],
  ['2025-01-31', '2025-02-03'],
  ['2025-05-01', '2025-05-31'],
];

const range = fc.constantFrom(...RANGES);

const zone = fc.constantFrom('America/New_York', 'America/New_York', 'UTC', 'Asia/Kathmandu', 'Australia/Lord_Howe');

/** Generates questions about a chart; only short ranges are asked for by day. */
function questionAbout(chart_id: (typeof CHART_IDS)[number]): fc.Arbitrary<Question> {
  const { dimensions, compares } = filtersOf(chart(chart_id));
  const filter = fc
    .constantFrom(...dimensions.filter((name) => name in FILTER_VALUES))
    .chain((name) => fc.tuple(fc.constant(name), fc.subarray(FILTER_VALUES[name]!, { minLength: 1, maxLength: 2 })));
  return fc
    .record({
      period_unit: fc.constantFrom('day', 'week', 'month', 'month', 'quarter', 'year'),
      date_type: fc.constantFrom('purchase_date', 'purchase_date', 'profile_install_date'),
      segmentation: fc.option(fc.constantFrom(...segmentationsOf(chart(chart_id))), { nil: undefined }),
      date: range,
      compare_date: fc.option(range, { nil: undefined, freq: 3 }),
      filters: fc.oneof(
        { arbitrary: fc.constant([]), weight: 3 },
        { arbitrary: fc.array(filter, { maxLength: 2 }), weight: 2 },
      ),
    })
    .map(({ segmentation, date, compare_date, filters, ...rest }) => ({
      chart_id,
      ...rest,
      ...(segmentation !== undefined && { segmentation }),
      filters: { ...Object.fromEntries(filters), date, ...(compares && compare_date && { compare_date }) },
    }));
}

export interface Asked {
  question: Question;
  /** The zone whose days the question is about. */
  zoneName: string;
}

/** Generates `perChart` questions about every chart. */
export const questions = (perChart: number): fc.Arbitrary<Asked[]> =>
  fc
    .tuple(
      ...CHART_IDS.map((id) =>
        fc.array(fc.record({ question: questionAbout(id), zoneName: zone }), {
          minLength: perChart,
          maxLength: perChart,
        }),
      ),
    )
    .map((sets) => sets.flat());

interface Answered {
  type: string;
  value: number;
  values: { x: string; y: number }[];
  compare_value: number | null;
  compare_values: { x: string; y: number }[] | null;
}

/** Asks the service. Returns the series of each key of the answer, in the oracle's form. */
export async function ask(home: Home, question: Question, zoneName: string): Promise<Record<string, OracleSeries[]>> {
  const { status, text, json } = await askChart(home, question, { 'service-tz': zoneName });
  if (status !== 200) throw new Error(`${status} ${text}`);
  const drawn = ({ type, value, values, compare_value, compare_values }: Answered): OracleSeries => ({
    type,
    value,
    y: values.map(({ y }) => y),
    compare_value,
    compare_y: compare_values?.map(({ y }) => y) ?? null,
  });
  return Object.fromEntries(
    Object.entries(json.data as Record<string, { data: Answered[] }>).map(([key, { data }]) => [key, data.map(drawn)]),
  );
}
