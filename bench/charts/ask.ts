// Asks the service for charts, one question after the other, and measures the time until the whole answer has arrived.
import { chart, metricKeysOf } from '../../src/analytics/catalogue.ts';
import { bodyOf, openConnection } from '../load/connection.ts';
import { authorizedBy, post } from '../load/requests.ts';
import type { Question } from './questions.ts';

/** The values of the whole range on the first key: the total, and every segment by its raw value. */
export interface Values {
  total: number;
  segments: Map<string, number>;
  /** Whether the segments are incomplete, and the rest is in "other". */
  isCut: boolean;
}

export interface DuckAnswer {
  ms: number;
  values: Values;
}

/** An answer of the service; without values if the service gave up. */
export interface ServiceAnswer {
  ms: number;
  values: Values | undefined;
}

interface Metric {
  value: number;
  data: { type: string; value: number }[];
}

export interface ChartClient {
  ask: (question: Question, zone?: string) => Promise<ServiceAnswer>;
  close: () => void;
}

function readValues(question: Question, text: string): Values {
  const [key = ''] = metricKeysOf(chart(question.chart_id));
  const metric = (JSON.parse(text) as { data: Record<string, Metric> }).data[key] as Metric;
  const series = metric.data.slice(1);
  const isCut = series.at(-1)?.type === 'other' && series.length > 400;
  return { total: metric.value, segments: new Map(series.map(({ type, value }) => [type, value])), isCut };
}

const PATH = '/api/v1/client-api/metrics/analytics/';

export async function createChartClient(url: string, key: string): Promise<ChartClient> {
  const { hostname, port } = new URL(url);
  const connection = await openConnection({ host: hostname, port: Number(port) });
  return {
    async ask(question, zone) {
      const { chart_id, period_unit, first, last, segmentation, filters } = question;
      const body = JSON.stringify({
        chart_id,
        period_unit,
        segmentation,
        filters: { ...filters, date: [first, last] },
      });
      const headers = authorizedBy(key) + (zone === undefined ? '' : `service-tz: ${zone}\r\n`);
      const answer = await connection.send(post({ path: PATH, headers, body }));
      const { status, ms } = answer;
      // The service gave up at the time limit for charts: the time counts, but there is nothing to compare.
      if (status === 503) return { ms, values: undefined };
      const text = bodyOf(answer);
      if (status !== 200) throw new Error(`${body} was answered with status ${status}: ${text.slice(0, 300)}`);
      return { ms, values: readValues(question, text) };
    },
    close: connection.close,
  };
}
