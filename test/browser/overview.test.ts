// The overview: six figures, equal to what the operation answers.
import { expect, test } from 'vitest';
import { periodTitle } from '../../src/dashboard/words/periods.ts';
import { describeChange, formatValue } from '../../src/dashboard/words/values.ts';
import { describeInBrowser, settle, signIn } from './browser.ts';
import { CHARTS, lastDays } from './world.ts';

const FIGURES = [
  ['revenue', 'Revenue'],
  ['mrr', 'MRR'],
  ['subscriptions_active', 'Active subscriptions'],
  ['trials_active', 'Active trials'],
  ['subscriptions_new', 'New subscriptions'],
  ['installs', 'Installs'],
] as const;

describeInBrowser('the overview', (place) => {
  test.each(FIGURES)('%s of the last 28 days, compared with the 28 before', async (chart_id, name) => {
    const { page, messages, close } = await place.open();
    await settle(page);
    const value = async (date: string[]) => {
      const data = await place.world.ask({ chart_id, period_unit: 'day', filters: { date } });
      return Object.values<{ value: number; unit: 'USD' | 'count' }>(data)[0]!;
    };
    const now = await value(lastDays(28));
    const before = await value(lastDays(28, { before: 28 }));
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
    expect(await card.locator('.figure-value').textContent()).toBe(formatValue(now.value, now.unit));
    const change = await card.locator('.figure-change').textContent();
    expect(change).toContain(describeChange(now.value, before.value).text);
    expect(change).toContain(`from ${formatValue(before.value, before.unit)}`);
    expect((await card.locator('.sparkline-now').getAttribute('d'))?.match(/[ML]/g)).toHaveLength(28);
    await card.getByRole('link').click();
    await expect.poll(() => page.locator('h1').textContent()).toBe(name);
    await settle(page);
    expect(await page.locator('.headline-value').textContent()).toBe(formatValue(now.value, now.unit));
    expect(messages).toEqual([]);
    await close();
  });

  test.each([
    ['slow', -1],
    ['fast', 1],
  ])(
    'the service tells a computer whose clock is a day %s what day it is; a larger difference is reported',
    async (_, way) => {
      const hours = (count: number) => Date.now() + way * count * 3_600_000;
      const { page, close } = await place.open({ view: '#/charts/installs?date=last_7_days', key: null });
      // Four days off: at three, the day may still be found, because a zone's day is not always that of UTC.
      await page.clock.setSystemTime(hours(96));
      await signIn(page, place.world.key);
      await expect.poll(() => page.getByRole('alert').textContent()).toContain('differ by more than a day');
      await page.clock.setSystemTime(hours(23));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await settle(page);
      const days = await page.locator('.data-table tbody th').allTextContents();
      const titles = lastDays(7).map((day) => periodTitle(day, 'day'));
      expect([days.length, days[0], days.at(-1)]).toEqual([7, titles[0], `${titles[1]}so far`]);
      await close();
    },
  );

  test('only a chart without comparison is requested twice', async () => {
    const { page, close } = await place.open();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith(CHARTS)) asked.push(request.postDataJSON().chart_id);
    });
    await settle(page);
    await page.reload();
    asked.length = 0;
    await settle(page);
    // One request more, to find out what day it is.
    expect(asked.filter((one) => one === 'installs')).toHaveLength(3);
    expect(asked).toHaveLength(8);
    await close();
  });
});
