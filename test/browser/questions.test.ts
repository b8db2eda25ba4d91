// The questions asked of a chart: segmentation, filters, comparison, money, dates, zone, CSV, all kept in the address.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatValue } from '../../src/dashboard/words/values.ts';
import { describeInBrowser, settle, signIn } from './browser.ts';
import { lastDays } from './world.ts';

const COMPLETE = /^[A-Z][a-z]{2} \d/;

async function choose(page: Page, label: string, value: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).selectOption(value);
  await settle(page);
}

const headline = (page: Page) => page.locator('.headline-value').textContent();

/** Returns the texts of each row of the legend or table, the heading of the row first. */
async function readRows(page: Page, rows: string): Promise<string[][]> {
  const found = await page.locator(rows).all();
  return Promise.all(found.map((row) => row.locator('th, td').allTextContents()));
}

describeInBrowser('asking a chart', (place) => {
  const date = lastDays(90);

  test('every segment has its value, and the legend switches series on and off', async () => {
    const { page, messages, close } = await place.open({ view: '#/charts/revenue?date=last_90_days&period_unit=week' });
    await settle(page);
    await choose(page, 'Segmentation', 'country');
    const { revenue } = await place.world.ask({
      chart_id: 'revenue',
      period_unit: 'week',
      segmentation: 'country',
      filters: { date },
    });
    const expected = revenue.data.map(({ title, value }: { title: string; value: number }) => [
      title,
      formatValue(value, 'USD'),
    ]);
    expect(expected.length).toBeGreaterThan(9);
    expect(await readRows(page, '.legend tbody tr')).toEqual(expected.slice(0, 12));

    const heads = () => page.locator('.data-table thead th').allTextContents();
    expect(await heads()).toEqual(['Period', ...expected.slice(0, 9).map(([title]: string[]) => title)]);
    await page.getByRole('button', { name: 'Total', exact: true }).click();
    await page.getByRole('button', { name: expected[9]![0], exact: true }).click();
    // A click changes the address, and the page follows the address.
    await expect.poll(heads).toEqual(['Period', ...expected.slice(1, 10).map(([title]: string[]) => title)]);
    expect(await page.getByRole('button', { name: 'Total', exact: true }).getAttribute('aria-pressed')).toBe('false');
    // Applying a filter without changing it changes nothing.
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await settle(page);
    expect(await heads()).toEqual(['Period', ...expected.slice(1, 10).map(([title]: string[]) => title)]);
    expect(messages).toEqual([]);
    await close();
  });

  test('a chart can be filtered by seen and by typed values, of two dimensions together', async () => {
    const { page, close } = await place.open({ view: '#/charts/subscriptions_new?date=last_90_days' });
    await settle(page);
    const ask = async (filters: object) =>
      (await place.world.ask({ chart_id: 'subscriptions_new', filters: { date, ...filters } })).common.value;
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByLabel('Dimension').selectOption('country');
    await page.getByRole('checkbox', { name: /United States/ }).check();
    const search = page.getByLabel('Find a value, or type a two-letter code');
    await search.fill('germany');
    await search.press('Enter');
    // The service takes countries only by code, and the page has no code for the name of a country that was not seen.
    await search.fill('iceland');
    await search.press('Enter');
    expect(await page.getByRole('button', { name: 'Add' }).count()).toBe(0);
    await search.fill('zz');
    await page.getByRole('button', { name: 'Add' }).press('Enter');
    expect(await page.evaluate('document.activeElement.type')).toBe('text');
    await page.getByLabel('Dimension').selectOption('duration');
    await page.getByRole('checkbox', { name: 'Monthly' }).check();
    await page.getByRole('button', { name: 'Apply' }).click();
    await settle(page);
    expect(new URL(page.url()).hash).toMatch(
      /country=us&filters.country=de&filters.country=zz&filters.duration=Monthly$/,
    );
    await expect
      .poll(() => page.locator('.chip').allTextContents())
      .toEqual(['Country: United States, Germany, zz×', 'Duration: Monthly×']);
    expect(await page.locator('.chip button').first().getAttribute('title')).toBe('United States, Germany, zz');
    const both = await ask({ country: ['us', 'de', 'zz'], duration: ['Monthly'] });
    expect(await headline(page)).toBe(formatValue(both, 'count'));

    await page.getByRole('button', { name: 'Remove filter Country' }).click();
    await settle(page);
    expect(await headline(page)).toBe(formatValue(await ask({ duration: ['Monthly'] }), 'count'));
    await close();
  });

  test('Apply adds the typed value, unless the text was only a search for a ticked one', async () => {
    const { page, close } = await place.open({ view: '#/charts/subscriptions_new?date=last_90_days' });
    await settle(page);
    const open = () => page.getByRole('button', { name: '+ Filter' }).click();
    const apply = () => page.getByRole('button', { name: 'Apply' }).click();
    const search = page.getByLabel('Find a value, or type a two-letter code');
    await open();
    await page.getByLabel('Dimension').selectOption('country');
    await page.getByRole('checkbox', { name: /United States/ }).waitFor();
    await search.fill('united st');
    await apply();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/days&filters.country=us$/);
    await open();
    await page.getByLabel('Dimension').selectOption('country');
    await page.getByRole('checkbox', { name: /Germany/ }).waitFor();
    await search.fill('ger');
    await page.getByRole('checkbox', { name: /Germany/ }).check();
    await search.fill('zz');
    // Choosing another dimension adds it, too.
    await page.getByLabel('Dimension').selectOption('duration');
    await page.getByRole('checkbox', { name: 'Monthly' }).waitFor();
    await apply();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/country=us&filters.country=de&filters.country=zz$/);
    await open();
    await page.getByLabel('Dimension').selectOption('country');
    await search.fill('un');
    await page.getByRole('checkbox', { name: /United States/ }).uncheck();
    await search.fill('nowhere');
    await apply();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/days&filters.country=de&filters.country=zz$/);
    await open();
    await page.getByLabel('Dimension').selectOption('store');
    const store = page.getByLabel('Find a value, or type one');
    await page.getByRole('checkbox', { name: /App Store/ }).waitFor();
    await store.fill('st');
    await page.getByRole('checkbox', { name: /App Store/ }).check();
    await apply();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/filters.country=zz&filters.store=app_store$/);
    await close();
  });

  test('a chart can be compared with the days before, and with two dates', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr' });
    await settle(page);
    const compare = async (compare_date: string[]) => {
      const filters = { date: lastDays(28), compare_date };
      return (await place.world.ask({ chart_id: 'mrr', period_unit: 'day', filters })).revenue;
    };
    await choose(page, 'Compared with', 'previous');
    const before = await compare(lastDays(28, { before: 28 }));
    expect(await page.locator('.headline-change').textContent()).toContain(formatValue(before.compare_value, 'USD'));
    const last = (await readRows(page, '.data-table tbody tr')).at(-1);
    expect(last?.[1]).toBe(formatValue(before.data[0].values[27].y, 'USD'));
    expect(last?.[3]).toBe(formatValue(before.data[0].compare_values[27].y, 'USD'));

    await choose(page, 'Compared with', 'dates');
    const [first, end] = lastDays(7, { before: 100 });
    const dates = page.getByRole('group', { name: 'Compared with' });
    await dates.getByLabel('Compared from').fill(first);
    await dates.getByLabel('Compared to').fill(end);
    await settle(page);
    const earlier = await compare([first, end]);
    expect(await page.locator('.headline-change').textContent()).toContain(formatValue(earlier.compare_value, 'USD'));
    // Compared weeks that are cut off show their days, too.
    await page.goto(
      `${place.world.service.url}/dashboard/#/charts/mrr?date=2025-03-03_to_2025-03-16&compare_date=2025-01-08_to_2025-01-16&period_unit=week`,
    );
    await expect
      .poll(() => page.locator('.data-table td .cut').allTextContents())
      .toEqual(['8 Jan – 12 Jan 2025', '13 Jan – 16 Jan 2025']);
    expect(await page.locator('.headline .muted').first().textContent()).toBe('3 Mar – 16 Mar 2025, at the end');
    // A range that is not over has no end yet.
    await page.goto(`${place.world.service.url}/dashboard/#/charts/mrr`);
    await expect.poll(() => page.locator('.headline .muted').first().textContent()).toMatch(/, now$/);
    await close();
  });

  test('the two dates of a range stand side by side', async () => {
    const { page, close } = await place.open({ view: '#/charts/revenue?date=2026-01-01_to_2026-01-31' });
    await settle(page);
    for (const width of [360, 450, 768, 1024, 1280, 1600]) {
      await page.setViewportSize({ width, height: 900 });
      const first = await page.getByLabel('First day').boundingBox();
      const last = await page.getByLabel('Last day').boundingBox();
      expect(first?.y, `${width} pixels`).toBe(last?.y);
    }
    await close();
  });

  test('a chart can be counted on another money basis, by install date, in another zone', async () => {
    const { page, close } = await place.open({ view: '#/charts/revenue?date=last_90_days' });
    await settle(page);
    await choose(page, 'Money', 'net_revenue');
    const usual = await place.world.ask({ chart_id: 'revenue', period_unit: 'day', filters: { date: date } });
    expect(await headline(page)).toBe(formatValue(usual.net_revenue.value, 'USD'));

    await choose(page, 'Counted by', 'profile_install_date');
    await choose(page, 'Time zone', 'Pacific/Kiritimati');
    const body = {
      chart_id: 'revenue',
      period_unit: 'day',
      date_type: 'profile_install_date',
      filters: { date: lastDays(90, { zone: 'Pacific/Kiritimati' }) },
    };
    const { net_revenue } = await place.world.ask(body, 'Pacific/Kiritimati');
    expect(net_revenue.data[0].values).toHaveLength(90);
    expect(await headline(page)).toBe(formatValue(net_revenue.value, 'USD'));
    const terms = 'net revenue, Pacific/Kiritimati, by install date';
    expect(await page.locator('.headline .muted').first().textContent()).toContain(`, in total so far, ${terms}`);
    expect(await page.getByRole('slider').getAttribute('aria-label')).toMatch(
      new RegExp(`^Revenue by day, .*, ${terms}$`),
    );
    const rows = await readRows(page, '.data-table tbody tr');
    expect(rows.map(([, value]) => value)).toEqual(
      net_revenue.data[0].values.map(({ y }: { y: number }) => formatValue(y, 'USD')),
    );
    expect(rows.every(([day]) => COMPLETE.test(day as string))).toBe(true);
    await close();
  });

  test('the CSV file is what the operation returns', async () => {
    const { page, close } = await place.open({
      view: '#/charts/arpu?date=last_90_days&period_unit=month&segmentation=store&filters.country=us',
    });
    await settle(page);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download ARPU as CSV' }).click();
    const download = await downloading;
    const text = await readFile(await download.path(), 'utf8');
    expect(text).toBe(
      await place.world.ask({
        chart_id: 'arpu',
        period_unit: 'month',
        segmentation: 'store',
        filters: { date, country: ['us'] },
        format: 'csv',
      }),
    );
    expect(text.split('\r\n').length).toBeGreaterThan(8);
    expect(download.suggestedFilename()).toMatch(/^arpu.*\.csv$/);
    await close();
  });

  test('a filter that another chart does not support is named there, and applies again on the way back', async () => {
    const { page, close } = await place.open({ view: '#/charts/arppu?filters.duration=Monthly' });
    await settle(page);
    const filtered = await headline(page);
    await page.getByRole('link', { name: 'ARPU', exact: true }).click();
    await settle(page);
    expect(await page.locator('.filters').textContent()).toBe('+ FilterNot applied here:Duration×');
    const { revenue } = await place.world.ask({
      chart_id: 'arpu',
      period_unit: 'day',
      filters: { date: lastDays(28) },
    });
    expect(await headline(page)).toBe(formatValue(revenue.value, 'USD'));
    await choose(page, 'Period unit', 'week');
    await page.getByRole('link', { name: 'ARPPU', exact: true }).click();
    await settle(page);
    expect(await page.locator('.filters').textContent()).not.toContain('Not applied');
    expect(await headline(page)).toBe(filtered);
    await close();
  });

  test('two filters removed before the page is rendered again are both gone', async () => {
    const { page, close } = await place.open({
      view: '#/charts/installs?filters.country=us&filters.store=app_store&filters.channel=x',
    });
    await settle(page);
    await page.addInitScript("addEventListener('hashchange', (event) => event.stopImmediatePropagation());");
    await page.reload();
    await settle(page);
    await page.getByRole('button', { name: 'Remove filter Country', exact: true }).click();
    await page.getByRole('button', { name: 'Remove filter Store', exact: true }).click();
    expect(new URL(page.url()).hash).toBe('#/charts/installs?filters.channel=x');
    await close();
  });

  test('two series switched before the page is rendered again are both switched', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr?segmentation=store' });
    await settle(page);
    await page.addInitScript("addEventListener('hashchange', (event) => event.stopImmediatePropagation());");
    await page.reload();
    await settle(page);
    await page.getByRole('button', { name: 'Total', exact: true }).click();
    await page.getByRole('button', { name: 'App Store', exact: true }).click();
    expect(new URL(page.url()).hash).toBe('#/charts/mrr?segmentation=store&series=%3Dplay_store&series=%3Dstripe');
    await close();
  });

  test('what no chart supports is named and can be removed, by keyboard too', async () => {
    const { page, messages, close } = await place.open({
      view: '#/charts/installs?segmentation=shade&filters.colour=red&filters.toString=x&filters.country=us&compare_date=previous',
    });
    await settle(page);
    const unapplied = () => page.locator('.chip-title').allTextContents();
    expect(await unapplied()).toEqual(['colour', 'toString', 'segmentation by shade', 'comparison']);
    for (const title of await unapplied()) {
      await page.getByRole('button', { name: `Remove ${title}`, exact: true }).press('Enter');
      await page.getByRole('button', { name: `Remove ${title}`, exact: true }).waitFor({ state: 'detached' });
      expect(await page.evaluate('document.activeElement.textContent')).toBe('+ Filter');
    }
    expect(new URL(page.url()).hash).toBe('#/charts/installs?filters.country=us');
    expect(await page.locator('.filters').textContent()).toBe('Country: United States×+ Filter');
    expect(messages).toEqual([]);
    await close();
  });

  test('titles of filter values are requested for the app’s own days, which have totals', async () => {
    const { page, close } = await place.open({ key: null });
    const asked: [object, string | undefined][] = [];
    page.on('request', (request) => {
      const body = request.postDataJSON();
      if (body?.segmentation) asked.push([body, request.headers()['service-tz']]);
    });
    await page.evaluate(
      `location.hash = '#/charts/arppu?filters.country=us&filters.store=app_store&date_type=profile_install_date&zone=UTC'`,
    );
    await signIn(page, place.world.key);
    await settle(page);
    await expect
      .poll(() => page.locator('.chip').allTextContents())
      .toEqual(['Country: United States×', 'Store: App Store×']);
    const question = { chart_id: 'revenue', period_unit: 'year', date_type: 'purchase_date' };
    expect(asked).toEqual([
      [expect.objectContaining({ ...question, segmentation: 'country' }), undefined],
      [expect.objectContaining({ ...question, segmentation: 'store' }), undefined],
    ]);
    await close();
  });

  test('the headline says that the compared days are grey only if they are drawn', async () => {
    const { page, close } = await place.open({ view: '#/charts/revenue?segmentation=country&compare_date=previous' });
    await settle(page);
    const change = () => page.locator('.headline-change').textContent();
    expect(await change()).toMatch(/\d, in grey$/);
    expect(await page.locator('.legend thead .swatch:visible').count()).toBe(1);
    await page.getByRole('button', { name: 'Total', exact: true }).click();
    await expect.poll(change).toMatch(/ from \$[\d.,]+, .* \d{4}$/);
    expect(await page.locator('.legend thead .swatch:visible').count()).toBe(0);
    await close();
  });

  test('future days are not compared, and no change is shown while chosen dates are in the future', async () => {
    const { page, close } = await place.open();
    await settle(page);
    const [first, today] = lastDays(3);
    const [, tomorrow] = lastDays(1, { before: -1 });
    const [, end] = lastDays(1, { before: -4 });
    const show = async (view: string) => {
      await page.goto(`${place.world.service.url}/dashboard/#/charts/revenue?date=${view}`);
      await settle(page);
    };
    const change = page.locator('.headline-change');
    await show(`${first}_to_${end}&compare_date=previous`);
    expect(await page.locator('.headline-change .change').count()).toBe(1);
    const rows = await readRows(page, '.data-table tbody tr');
    expect(rows.map((cells) => cells.length)).toEqual([4, 4, 4]);
    await show(`${tomorrow}_to_${end}&compare_date=previous`);
    expect(await page.locator('.notice-title').textContent()).toBe('These days are in the future.');
    expect(await change.count()).toBe(0);
    for (const dates of [`${tomorrow}_to_${end}`, `${first}_to_${end}`]) {
      await show(`${dates}&compare_date=2026-01-01_to_2026-01-20`);
      expect(await change.textContent()).toMatch(/^ compared with \$[\d.,]+, 1 Jan – 20 Jan 2026, in grey$/);
      expect(await page.locator('.legend thead th').allTextContents()).not.toContain('Change');
    }
    await show(`${first}_to_${today}&compare_date=2026-01-01_to_2026-01-20`);
    expect(await page.locator('.change').count()).toBe(2);
    await close();
  });

  test('the address of a view shows the same when opened elsewhere', async () => {
    const { page, close } = await place.open({ view: '#/charts/arppu' });
    await settle(page);
    await choose(page, 'Days', 'last_12_months');
    await choose(page, 'Period unit', 'quarter');
    await choose(page, 'Segmentation', 'store');
    await page.getByText('Bars', { exact: true }).click();
    await page.getByRole('button', { name: 'Total', exact: true }).click();
    const fragment = new URL(page.url()).hash;
    const other = await place.open({ view: fragment });
    await settle(other.page);
    const rows = await readRows(page, '.data-table tr');
    expect(rows.length).toBeGreaterThan(4);
    expect(await readRows(other.page, '.data-table tr')).toEqual(rows);
    expect(await other.page.getByRole('radio', { name: 'Bars' }).isChecked()).toBe(true);

    await page.goBack();
    await expect
      .poll(() => page.getByRole('button', { name: 'Total', exact: true }).getAttribute('aria-pressed'))
      .toBe('true');
    await other.close();
    await close();
  });
});
