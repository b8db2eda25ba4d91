// The table of charts in the API reference: what each is, and what it may be segmented and filtered by.
import { CHART_IDS, chart, filtersOf, segmentationsOf, unitOf } from '../analytics/catalogue.ts';

export function describeCharts(): string {
  const rows = CHART_IDS.map((id) => {
    const one = chart(id);
    const { dimensions, compares } = filtersOf(one);
    const filters = [...(compares ? ['compare_date'] : []), ...dimensions].join(', ');
    return `| \`${id}\` | ${one.kind} | ${unitOf(one)} | ${one.description} | ${segmentationsOf(one).join(', ')} | ${filters} |`;
  });
  return [
    '| chart_id | kind | unit | definition | segmentations | filters |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
