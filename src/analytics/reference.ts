// Renders docs/charts.md from the catalogue. Pure; a test compares the file with it.
import { CHART_IDS, type Chart, chart, filtersOf, metricKeysOf, segmentationsOf, unitOf } from './catalogue.ts';
import { EVERY_SEGMENTATION } from './chart-options.ts';
import { dimension, valuesOf } from './dimensions.ts';

const KIND_WORDS = {
  flow: 'what happened in the bucket; the value of a range is the sum',
  stock: 'the state at the end of the bucket; the value of a range is that of its last bucket',
  ratio: 'recomputed for each bucket, each series and the whole range',
} as const;

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function describeChart(one: Chart): string {
  const { dimensions, compares } = filtersOf(one);
  return `### ${one.chart_id}

${one.metric_name}. ${one.description}

- ${one.kind}: ${KIND_WORDS[one.kind]}; in ${unitOf(one)}, under ${code(metricKeysOf(one))}
- segmentation: ${code(segmentationsOf(one))}
- filters: ${code(['date', ...(compares ? ['compare_date'] : []), ...dimensions])}
`;
}

function describeValues(): string {
  const closed = EVERY_SEGMENTATION.map(dimension).flatMap((one) => {
    const values = valuesOf(one);
    return values ? [`| \`${one.name}\` | ${code(values)} |`] : [];
  });
  return ['| dimension | values |', '|---|---|', ...closed].join('\n');
}

export function renderReference(): string {
  return `# Charts

The charts that \`POST {admin_url}/api/v1/client-api/metrics/analytics/\` returns. Generated from the chart catalogue
(\`src/analytics/catalogue.ts\`); \`npx vitest run test/analytics/catalogue.test.ts -u\` regenerates it.

## Values of the closed dimensions

${describeValues()}

A missing value counts as the empty string: filter for it with \`""\`. Filters of closed dimensions and of countries ignore case. Filters of
closed dimensions also accept \`-\` for \`_\`, \`winback\` for \`win_back\` and \`no_offer\` for no offer.

## Money

Amounts are in USD. They are fixed when a transaction is recorded and change only if it is given another price or day of purchase.

- \`revenue\` is the price: \`value_usd\`, or \`value\` at the imported rate of the day of purchase or of one of the seven days before.
- \`proceeds\` is \`proceeds_usd\`, or the price less the store's commission (\`sps store set\`; 30 % for \`app_store\` and \`play_store\` unless set,
  else 0).
- \`net_revenue\` is the proceeds less \`tax_usd\`, which is 0 if none was given.

An Uncategorized period adds at most 10⁹ USD to \`mrr\`, however short it is.

## The charts

${CHART_IDS.map((id) => describeChart(chart(id))).join('\n')}`;
}
