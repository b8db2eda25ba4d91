// The worked example: imported from its files, every case answered as expected.json has it.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { addProducts, askChart, importProfiles, importTransactions } from './import.ts';

const folder = new URL('../fixtures/example/', import.meta.url);
const read = (name: string) => readFile(new URL(name, folder), 'utf8');
const lines = async (name: string) =>
  (await read(name))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

interface Series {
  type: string;
  value: number;
  y: number[];
}

interface Case {
  request: { chart_id: string; segmentation?: string };
  'service-tz': string;
  expected: { x: string[]; metrics: Record<string, Series[]> };
}

const cases: Case[] = JSON.parse(await read('expected.json'));
let service: TestService;

beforeAll(async () => {
  service = await startService();
  await addProducts(service, JSON.parse(await read('products.json')));
  await importProfiles(service, await lines('profiles.ndjson'));
  await importTransactions(service, await lines('transactions.ndjson'));
});
afterAll(() => service.close());

/** The file sorts the series of each key by their own values; analytics.md 4 wants the order of the first key under all. */
const byType = (series: Series[]) => [...series].sort((a, b) => (a.type < b.type ? -1 : 1));

interface Answered {
  type: string;
  value: number;
  values: { x: string; y: number }[];
}

test.each(cases.map((one, i) => [i, one.request.chart_id, one.request.segmentation ?? '-', one] as const))(
  'case %i: %s by %s',
  async (_i, _chart, _segmentation, { request, expected, 'service-tz': zone }) => {
    const { status, json } = await askChart(service, request, { 'service-tz': zone });
    expect(status).toBe(200);
    expect(Object.keys(json.data)).toEqual(Object.keys(expected.metrics));
    const order = Object.values(expected.metrics)[0]!.map(({ type }) => type);
    for (const [key, series] of Object.entries(expected.metrics)) {
      const answered: Answered[] = json.data[key].data;
      const found = answered.map(({ type, value, values }) => ({ type, value, y: values.map(({ y }) => y) }));
      expect(byType(found)).toEqual(byType(series));
      expect(answered.map(({ type }) => type)).toEqual(order);
      expect(json.data[key].value).toBe(series[0]!.value);
      for (const { values } of answered) expect(values.map(({ x }) => x)).toEqual(expected.x);
    }
  },
);
