// Every chart of the catalogue: what the page shows is what the operation answers.
import { beforeAll, expect, test } from 'vitest';
import { CHART_IDS, chart, filtersOf, segmentationsOf, unitOf } from '../../src/analytics/catalogue.ts';
import { formatValue } from '../../src/dashboard/words/values.ts';
import { describeInBrowser, settle, signIn, type Tab } from './browser.ts';
import { CHARTS, lastDays } from './world.ts';

interface Metric {
  value: number;
  unit: 'USD' | 'count';
  data: { title: string; value: number; values: { x: string; y: number }[] }[];
}

/** The part of the element that is read. */
interface Select {
  options: Iterable<{ value: string }>;
}

/** Counts the painted pixels of the drawing: those of the canvas that are not empty. */
const PAINTED = `(() => {
  const canvas = document.querySelector('.plot canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.reduce((count, part, i) => count + (i % 4 === 3 && part > 0 ? 1 : 0), 0);
})()`;

/** Counts the pixels of each colour in the drawing. */
const COLOURS = `(() => {
  const canvas = document.querySelector('.plot canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const pixels = new Map();
  for (const colour of new Uint32Array(data.buffer)) if (colour) pixels.set(colour, (pixels.get(colour) ?? 0) + 1);
  return [...pixels];
})()`;

/** Returns the share of the drawing's blue that is half transparent: edges that lie between two pixels. */
const BLURRED = `(() => {
  const canvas = document.querySelector('.plot canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let [blue, blurred] = [0, 0];
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 2] - data[i] < 80) continue;
    blue++;
    if (data[i + 3] < 250) blurred++;
  }
  return blurred / blue;
})()`;

describeInBrowser('a chart', (place) => {
  let tab: Tab;
  beforeAll(async () => {
    tab = await place.open();
    await settle(tab.page);
  });

  test.each(CHART_IDS)('%s opened from the navigation shows what the operation returns', async (chart_id) => {
    const { page, messages } = tab;
    const { metric_name } = chart(chart_id);
    await page.getByRole('navigation').getByRole('link', { name: metric_name, exact: true }).click();
    await expect.poll(() => page.locator('h1').textContent()).toBe(metric_name);
    await settle(page);

    const body = { chart_id, period_unit: 'day', filters: { date: lastDays(28) } };
    const [metric] = Object.values<Metric>(await place.world.ask(body)) as [Metric];
    const { value, unit, data } = metric;
    expect(await page.locator('.headline-value').textContent()).toBe(formatValue(value, unit));
    const isEmpty = data[0]?.values.every(({ y }) => y === 0);
    if (isEmpty) {
      expect(await page.locator('.notice-title').textContent()).toBe('Nothing happened on these days.');
    } else {
      const cells = await page.locator('.data-table tbody td').allTextContents();
      expect(cells).toEqual(data[0]?.values.map(({ y }) => formatValue(y, unit)));
      expect(await page.evaluate(PAINTED)).toBeGreaterThan(1_000);
    }
    expect(messages).toEqual([]);
  });

  test.each(CHART_IDS)('%s offers exactly what it supports', async (chart_id) => {
    const { page } = tab;
    const one = chart(chart_id);
    await page.goto(`${place.world.service.url}/dashboard/#/charts/${chart_id}`);
    await expect.poll(() => page.locator('h1').textContent()).toBe(one.metric_name);
    const listValues = (label: string) =>
      page
        .getByLabel(label, { exact: true })
        .evaluate((select) => [...(select as unknown as Select).options].map(({ value }) => value));
    expect(await listValues('Segmentation')).toEqual(['', ...segmentationsOf(one)]);
    expect(await page.getByLabel('Compared with').count()).toBe(filtersOf(one).compares ? 1 : 0);
    expect(await page.getByLabel('Money', { exact: true }).count()).toBe(unitOf(one) === 'USD' ? 1 : 0);
    await page.getByRole('button', { name: '+ Filter' }).click();
    expect(await listValues('Dimension')).toEqual([...filtersOf(one).dimensions]);
    await page.keyboard.press('Escape');
  });

  test.each(['light', 'dark'] as const)('every segment has a colour of its own (%s)', async (colorScheme) => {
    const { page, close } = await place.open({ colorScheme, view: '#/charts/mrr?segmentation=store&drawing=area' });
    await settle(page);
    const segments = await page.locator('.legend tbody tr').count();
    expect(segments).toBe(4);
    const areas = (await page.evaluate(COLOURS)) as [string, number][];
    expect(areas.filter(([, pixels]) => pixels > 3_000)).toHaveLength(segments - 1);
    await close();
  });

  test('bars have sharp edges', async () => {
    const { page, close } = await place.open({ deviceScaleFactor: 1, view: '#/charts/revenue?date=last_90_days' });
    await settle(page);
    expect(await page.evaluate(BLURRED)).toBeLessThan(0.05);
    await close();
  });

  test('many segments with long names fit beside the drawing and above the table', async () => {
    const keys = ['total', ...Array.from({ length: 14 }, (_, i) => `=campaign-${i}`)];
    const { page, close } = await place.open({
      key: null,
      viewport: { width: 390, height: 800 },
      view: `#/charts/revenue?segmentation=country&${keys.map((key) => new URLSearchParams({ series: key })).join('&')}`,
    });
    await page.route(`**${CHARTS}`, async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: Record<string, Metric> };
      for (const metric of Object.values(data)) {
        const name = 'a campaign whose name has all that somebody wanted to tell of it';
        const segments = keys.slice(1).map((key) => ({ ...metric.data[0]!, title: name, type: key.slice(1) }));
        metric.data = [metric.data[0]!, ...segments];
      }
      await route.fulfill({ response, json: { data } });
    });
    await signIn(page, place.world.key);
    await settle(page);
    await page.getByRole('slider').focus();
    await page.keyboard.press('Home');
    await page.locator('.tooltip').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await page.locator('.tooltip dt').count()).toBe(12);
    expect(await page.locator('.tooltip').textContent()).toContain('3 more');
    expect(await page.locator('.switch span[title]').nth(1).getAttribute('title')).toContain('a campaign');
    const heading = page.locator('.data-table .series-name').nth(1);
    expect(await heading.getAttribute('title')).toContain('a campaign');
    expect((await heading.boundingBox())?.width).toBeLessThanOrEqual(12 * 14);
    await page.setViewportSize({ width: 1400, height: 800 });
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1400);
    await close();
  });

  test('a table of many series shows its first rows, more on request, and all of them in print', async () => {
    const types = Array.from({ length: 249 }, (_, i) => `=${i}`);
    const members = ['total', ...types].map((series) => new URLSearchParams({ series })).join('&');
    const { page, close } = await place.open({
      key: null,
      view: `#/charts/installs?date=last_90_days&segmentation=country&${members}`,
    });
    await page.route(`**${CHARTS}`, async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: { common: Metric } };
      const total = data.common.data[0]!;
      // Only the question for today's date has no segmentation.
      if (route.request().postDataJSON().segmentation)
        data.common.data = [total, ...types.map((key) => ({ ...total, title: key, type: key.slice(1) }))];
      await route.fulfill({ response, json: { data } });
    });
    await signIn(page, place.world.key);
    await settle(page);
    const rows = page.locator('.data-table tbody tr');
    const status = page.locator('.data-table').getByRole('status');
    expect(await rows.count()).toBe(40);
    expect(await status.textContent()).toBe('40 of 90 rows');
    await page.evaluate(`addEventListener('beforeprint', () => {
      globalThis.printed = document.querySelectorAll('.data-table tbody tr').length;
    })`);
    await page.pdf({ pageRanges: '1' });
    expect(await page.evaluate('printed')).toBe(90);
    await expect.poll(() => rows.count()).toBe(40);
    await page.getByRole('button', { name: 'Show 40 more' }).press('Enter');
    await expect.poll(() => status.textContent()).toBe('80 of 90 rows');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(90);
    expect(await status.count()).toBe(0);
    expect(await page.evaluate('document.activeElement.className')).toBe('data-table');
    await close();
  });

  test('right-to-left names in a filter are isolated from each other', async () => {
    const names = ['\u202e2026', 'حملة الربيع', 'Spring'];
    const filters = names.map((name) => `filters.attribution_campaign=${encodeURIComponent(name)}`);
    const { page, close } = await place.open({ view: `#/charts/installs?${filters.join('&')}` });
    await settle(page);
    expect(await page.locator('.chip bdi').allTextContents()).toEqual(names);
    await close();
  });
});
