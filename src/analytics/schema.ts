// The body and answer of "Retrieve analytics data" (interface 4.2), described from the catalogue. request.ts validates
// the body; the schema here only documents it.
import { type SchemaOptions, type Static, Type } from '@sinclair/typebox';
import { NullableOneOf, OneOf } from '../lib/typebox.ts';
import { PERIOD_UNITS } from './calendar.ts';
import { CHART_IDS, METRIC_KEYS } from './catalogue.ts';
import { EVERY_SEGMENTATION, FILTERS } from './chart-options.ts';
import { type DimensionName, dimension, valuesOf } from './dimensions.ts';
import { MAX_BUCKETS, MAX_CHARACTERS, MAX_VALUES, MAX_YEARS } from './filters.ts';
import { DATE_TYPES, FORMATS, PLURALS } from './request.ts';

const DAYS = {
  items: Type.String({ format: 'date', description: 'YYYY-MM-DD' }),
  minItems: 1,
  maxItems: 2,
  examples: [['2025-01-01', '2025-03-31']],
};

/** An optional list of texts; null means the same as absent (decisions.md 1). */
const NullableTexts = (options: SchemaOptions) =>
  Type.Optional(Type.Unsafe<string[] | null>({ type: ['array', 'null'], items: Type.String(), ...options }));

/** Lists the values of a closed dimension, in words rather than as an enum: they match in any case (analytics.md 3). */
function valueWords(name: DimensionName): string {
  const values = valuesOf(dimension(name));
  return values ? ` (${values.join(', ')})` : '';
}

const COUNTRY_OR_NONE = '^(?:[A-Za-z]{2})?$';

const dimensionFilters = Object.fromEntries(
  FILTERS.C.dimensions.map((name) => [
    name,
    NullableTexts({
      items: Type.String({ maxLength: MAX_CHARACTERS, ...(name === 'country' && { pattern: COUNTRY_OR_NONE }) }),
      maxItems: MAX_VALUES,
      description: `Values of ${name}${valueWords(name)}; "" for a missing value.`,
    }),
  ]),
);

export const ChartBody = Type.Object(
  {
    filters: Type.Object(
      {
        date: Type.Unsafe<string[]>({
          type: 'array',
          ...DAYS,
          description: `One day, or the first and the last day; at most ${MAX_YEARS} years and ${MAX_BUCKETS} buckets of the period_unit.`,
        }),
        compare_date: NullableTexts({
          ...DAYS,
          description: 'The day or range to compare with. It may lie anywhere and have another length.',
        }),
        ...dimensionFilters,
      },
      { additionalProperties: false, description: 'docs/charts.md says which of them each chart accepts.' },
    ),
    chart_id: Type.Optional(NullableOneOf(CHART_IDS, { default: 'revenue' })),
    period_unit: Type.Optional(NullableOneOf([...PERIOD_UNITS, ...PLURALS.keys()], { default: 'month' })),
    date_type: Type.Optional(NullableOneOf(DATE_TYPES, { default: 'purchase_date' })),
    segmentation: Type.Optional(NullableOneOf(EVERY_SEGMENTATION)),
    format: Type.Optional(NullableOneOf(FORMATS, { default: 'json' })),
  },
  {
    additionalProperties: false,
    examples: [{ chart_id: 'mrr', segmentation: 'country', filters: { date: ['2026-01-01', '2026-10-31'] } }],
  },
);

export const ChartHeaders = Type.Object({
  'service-tz': Type.Optional(
    Type.String({ description: "IANA time zone of days and buckets; by default the app's reporting zone." }),
  ),
});

const NullableNumber = Type.Unsafe<number | null>({ type: ['number', 'null'] });

const Point = Type.Object({
  x: Type.String({ description: 'Start of the bucket.', examples: ['2026-08-05T00:00:00.000000+0300'] }),
  y: Type.Number(),
});

const AnsweredSeries = Type.Object(
  {
    title: Type.String(),
    type: Type.String({ description: 'total, other, or the value of the segment.' }),
    value: Type.Number(),
    values: Type.Array(Point),
    compare_value: NullableNumber,
    compare_values: Type.Union([Type.Array(Point), Type.Null()]),
  },
  { title: 'ChartSeries' },
);

const ChartMetric = Type.Object(
  {
    title: Type.String(),
    metric_name: Type.String(),
    description: Type.String(),
    type: Type.Literal('multi'),
    unit: OneOf(['USD', 'count']),
    default_aggregation: Type.Unsafe<'sum' | 'last' | null>({ type: ['string', 'null'], enum: ['sum', 'last', null] }),
    is_json: Type.Literal(true),
    recommended_period: Type.Null(),
    value: Type.Number(),
    value_from: NullableNumber,
    value_to: NullableNumber,
    compare_value: NullableNumber,
    compare_value_from: NullableNumber,
    compare_value_to: NullableNumber,
    data: Type.Array(AnsweredSeries),
  },
  { title: 'ChartMetric' },
);

export type ChartMetric = Static<typeof ChartMetric>;

/** Installs of two months. */
const EXAMPLE: ChartMetric = {
  title: 'installs',
  metric_name: 'Installs',
  description: 'Every install at its date.',
  type: 'multi',
  unit: 'count',
  default_aggregation: 'sum',
  is_json: true,
  recommended_period: null,
  value: 56,
  value_from: null,
  value_to: null,
  compare_value: null,
  compare_value_from: null,
  compare_value_to: null,
  data: [
    {
      title: 'Total',
      type: 'total',
      value: 56,
      values: [
        { x: '2025-01-01T00:00:00.000000+0000', y: 25 },
        { x: '2025-02-01T00:00:00.000000+0000', y: 31 },
      ],
      compare_value: null,
      compare_values: null,
    },
  ],
};

export const ChartResponse = Type.Object(
  {
    data: Type.Object(Object.fromEntries(METRIC_KEYS.map((key) => [key, Type.Optional(ChartMetric)])), {
      description: 'revenue, proceeds and net_revenue for a chart in USD, otherwise common.',
    }),
  },
  { examples: [{ data: { common: EXAMPLE } }] },
);
