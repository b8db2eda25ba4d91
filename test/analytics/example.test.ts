// The worked example: imported by the built sps, with every case answered as expected.json says.
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSps } from '../cli/sps.ts';
import { startService, type TestService } from '../setup/service.ts';
import { askChart } from './import.ts';

const folder = fileURLToPath(new URL('../fixtures/example', import.meta.url));

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

const cases: Case[] = JSON.parse(await readFile(join(folder, 'expected.json'), 'utf8'));
let service: TestService;

/** The import writes its rejects next to its files, so it works on a copy. */
beforeAll(async () => {
  service = await startService();
  const copy = await mkdtemp(join(tmpdir(), 'sps-example-'));
  await cp(folder, copy, { recursive: true });
  const sps = createSps({ DATABASE_URL: service.database.url });
  await sps.json('product', 'import', join(copy, 'products.json'), '--app', service.appId);
  for (const [kind, count] of [['profiles', 6] as const, ['transactions', 12] as const]) {
    const summary = await sps.json('import', kind, join(copy, `${kind}.ndjson`), '--app', service.appId);
    expect(summary).toEqual({ read: count, written: count, unchanged: 0, rejected: 0 });
  }
  await rm(copy, { recursive: true });
}, 120_000);
afterAll(() => service.close());

/** The file sorts each key's series by their own values; analytics.md 4 wants all keys in the order of the first. */
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
