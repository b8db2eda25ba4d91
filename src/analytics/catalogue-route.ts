// Serves the chart catalogue to everybody: which charts there are, and what each takes.
import { type Static, Type } from '@sinclair/typebox';
import { JSON_TYPE } from '../http/json-type.ts';
import { operation } from '../http/operation.ts';
import { OneOf } from '../lib/typebox.ts';
import { CHART_IDS, type ChartId, chart, filtersOf, metricKeysOf, segmentationsOf, unitOf } from './catalogue.ts';
import { EVERY_SEGMENTATION } from './chart-options.ts';
import { type DimensionName, dimension, valuesOf } from './dimensions.ts';
import { listedTitle } from './titles.ts';

const Names = (description: string) => Type.Array(Type.String(), { description });

const ChartRecord = Type.Object({
  chart_id: Type.String(),
  metric_name: Type.String(),
  description: Type.String(),
  group: Type.String({ description: 'Heading under which it is listed.' }),
  kind: OneOf(['flow', 'stock', 'ratio']),
  unit: OneOf(['USD', 'count']),
  keys: Names('Members of `data` in the response.'),
  segmentations: Names('Values that `segmentation` accepts.'),
  filters: Names('Members of `filters` apart from the dates.'),
  compares: Type.Boolean({ description: 'Whether it accepts `filters.compare_date`.' }),
});

const DimensionRecord = Type.Object({
  name: Type.String(),
  title: Type.String(),
  values: Type.Unsafe<{ value: string; title: string }[] | null>({
    type: ['array', 'null'],
    items: Type.Object({ value: Type.String(), title: Type.String() }),
    description: 'All possible values; null if any recorded value is possible.',
  }),
});

const CatalogueResponse = Type.Object(
  { data: Type.Object({ charts: Type.Array(ChartRecord), dimensions: Type.Array(DimensionRecord) }) },
  { examples: [{ data: { charts: [describeChart('installs')], dimensions: [describeDimension('renewal_status')] } }] },
);

function describeChart(id: ChartId): Static<typeof ChartRecord> {
  const one = chart(id);
  const { chart_id, metric_name, description, group, kind } = one;
  const { dimensions, compares } = filtersOf(one);
  return {
    chart_id,
    metric_name,
    description,
    group,
    kind,
    unit: unitOf(one),
    keys: [...metricKeysOf(one)],
    segmentations: [...segmentationsOf(one)],
    filters: [...dimensions],
    compares,
  };
}

function describeDimension(name: DimensionName): Static<typeof DimensionRecord> {
  const { titleOf = (value: string) => value, ...one } = dimension(name);
  const values = valuesOf(one)?.map((value) => ({ value, title: titleOf(value) })) ?? null;
  return { name, title: listedTitle(name), values };
}

export function describeCatalogueRoute() {
  const data = { charts: CHART_IDS.map(describeChart), dimensions: EVERY_SEGMENTATION.map(describeDimension) };
  // The same bytes for everybody, and uncompressed: anybody may request them as fast as a connection allows.
  const answer = Buffer.from(JSON.stringify({ data }));
  return operation({
    summary: 'Describe the charts',
    description: 'The chart catalogue: the charts, and the segmentations and filters that each accepts. Needs no key.',
    responses: { 200: CatalogueResponse },
    errors: [],
    handle: async ({ reply }) => reply.type(JSON_TYPE).send(answer),
  });
}
