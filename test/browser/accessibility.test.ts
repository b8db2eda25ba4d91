// For everybody: no serious axe findings, all of it usable by keyboard, announced to screen readers, from 360 pixels on.
import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Metric } from '../../src/dashboard/service/answers.ts';
import { describeInBrowser, holdCharts, settle, signIn } from './browser.ts';
import { CHARTS } from './world.ts';

const VIEWS = [
  ['the overview', '#/'],
  ['bars of segments, compared', '#/charts/revenue?segmentation=country&compare_date=previous&filters.store=app_store'],
  ['an area, with two dates', '#/charts/mrr?date=2026-01-01_to_2026-03-31&period_unit=week'],
  ['nothing to show', '#/charts/revenue?date=2015-01-01_to_2015-01-31'],
  ['a failure', '#/charts/revenue?filters.country=usa'],
  ['the event feed', '#/events'],
] as const;

const LOOKS = [
  { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
] as const;

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Lists serious and critical findings, with their elements. */
async function listFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as { violations: Finding[] };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

async function findOverflow(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

describeInBrowser('for everybody', (place) => {
  for (const look of LOOKS) {
    const name = `${look.colorScheme}, ${look.viewport.width} pixels`;

    test.each(VIEWS)(`%s (${name}) has no serious finding and nothing beyond the edge`, async (_, view) => {
      const { page, close } = await place.open({ ...look, view });
      await settle(page);
      expect(await listFindings(page)).toEqual([]);
      expect(await findOverflow(page)).toBe(0);
      await close();
    });

    test(`signing in, an open event, the menu and a filter have no serious finding (${name})`, async () => {
      const { page, close } = await place.open({ ...look, key: null, view: '#/events' });
      await page.getByLabel('Secret key').waitFor();
      expect(await listFindings(page)).toEqual([]);
      await page.getByLabel('Secret key').fill(place.world.key);
      await page.keyboard.press('Enter');
      await settle(page);
      await page.locator('summary').first().click();
      expect(await listFindings(page)).toEqual([]);
      expect(await findOverflow(page)).toBe(0);
      const menu = page.getByRole('button', { name: 'Menu' });
      if (await menu.isVisible()) await menu.click();
      expect(await listFindings(page)).toEqual([]);
      await page.getByRole('link', { name: 'Revenue', exact: true }).click();
      await settle(page);
      await page.getByRole('button', { name: '+ Filter' }).click();
      await page.getByRole('checkbox').first().waitFor();
      expect(await listFindings(page)).toEqual([]);
      await close();
    });
  }

  test('the arrow keys read out the drawing bucket by bucket', async () => {
    const { page, close } = await place.open({ view: '#/charts/subscriptions_active?date=last_7_days' });
    await settle(page);
    const slider = page.getByRole('slider', { name: /^Active subscriptions by day/ });
    const rows = page.locator('.data-table tbody tr');
    const said = async (i: number) =>
      `${await rows.nth(i).locator('th').textContent()}: Total ${await rows.nth(i).locator('td').textContent()}`;
    await slider.focus();
    const today = (await said(6)).replace('so far', ', so far');
    expect(today).toContain(', so far: Total ');
    expect(await slider.getAttribute('aria-valuetext')).toBe(today);
    await page.keyboard.press('Home');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe(await said(0));
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe(await said(1));
    expect(await page.locator('.tooltip').textContent()).toContain(await rows.nth(1).locator('td').textContent());
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.tooltip').count()).toBe(0);
    await close();
  });

  test('waiting for an answer and its arrival are announced once each', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr?date=2026-01-01_to_2026-01-31' });
    await settle(page);
    const status = page.locator('#content > [role="status"]');
    const words = `MRR, 1 Jan – 31 Jan 2026: ${await page.locator('.headline-value').textContent()} at the end`;
    await expect.poll(() => status.textContent()).toBe(words);
    await page.evaluate(`(() => {
      const status = document.querySelector('#content > [role="status"]');
      globalThis.said = [];
      new MutationObserver(() => said.push(status.textContent)).observe(status, { childList: true, characterData: true, subtree: true });
    })()`);
    const release = await holdCharts(page);
    await page.getByLabel('Period unit').selectOption('week');
    await page.getByText('Loading MRR, 4 s').waitFor();
    release();
    await settle(page);
    await expect.poll(() => page.evaluate('said')).toEqual(['', 'Loading MRR', words]);
    await close();
  });

  test('the numbers of values and events found are announced', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr' });
    await settle(page);
    await page.getByRole('button', { name: '+ Filter' }).click();
    const values = page.getByRole('checkbox');
    await values.first().waitFor();
    const status = page.getByRole('dialog').getByRole('status');
    await expect.poll(() => status.textContent()).toBe(`Values found: ${await values.count()}`);
    await page.getByRole('textbox').fill('nowhere');
    await expect.poll(() => status.textContent()).toBe('Values found: 0');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.locator('summary').first().waitFor();
    const events = await page.locator('summary').count();
    await expect.poll(() => page.locator('#content > [role="status"]').textContent()).toBe(`Events shown: ${events}`);
    await close();
  });

  test('problems with two dates are reported on their fields, but not while a year is being typed', async () => {
    const { page, close } = await place.open({ view: '#/charts/revenue?date=2026-01-01_to_2026-01-31' });
    await settle(page);
    const first = page.getByLabel('First day');
    const last = page.getByLabel('Last day');
    const said = async (field: Locator) => {
      const id = await field.getAttribute('aria-describedby');
      const problem = id && (await page.locator(`[role="alert"][id="${id}"]`).textContent());
      return [await field.getAttribute('aria-invalid'), problem];
    };
    const missing = 'First day: enter a date in 1970 or later.';
    await first.fill('');
    await expect.poll(() => said(first)).toEqual(['true', missing]);
    expect(await said(last)).toEqual(['false', missing]);
    await first.fill('0002-01-01');
    await expect.poll(() => said(first)).toEqual(['false', null]);
    await first.blur();
    await expect.poll(() => said(first)).toEqual(['true', missing]);
    await first.fill('2026-02-01');
    const reversed = 'The first day must not be after the last.';
    await expect.poll(() => said(first)).toEqual(['true', reversed]);
    expect(await said(last)).toEqual(['true', reversed]);
    await last.fill('2026-02-28');
    await expect.poll(() => said(last)).toEqual(['false', null]);
    await close();
  });

  test('in a narrow window, the compared values are below the values', async () => {
    const view = '#/charts/mrr?segmentation=store&compare_date=previous';
    const { page, close } = await place.open({ view, viewport: { width: 1280, height: 900 } });
    await settle(page);
    const columns = page.locator('td.compared-value');
    const values = await columns.allInnerTexts();
    expect(values.length).toBeGreaterThan(1);
    const lines = page.locator('td .compared-line');
    expect(await lines.first().isVisible()).toBe(false);
    await page.setViewportSize({ width: 320, height: 740 });
    await lines.first().waitFor();
    expect(await lines.allInnerTexts()).toEqual(values);
    expect(await page.locator('th .compared-line').textContent()).toContain('Compared');
    expect(await columns.first().isVisible()).toBe(false);
    const legend = 'const { scrollWidth, clientWidth } = document.querySelector(".legend")';
    expect(await page.evaluate(`(() => { ${legend}; return scrollWidth - clientWidth; })()`)).toBe(0);
    await close();
  });

  test('large amounts fit a narrow window uncut, with their names beside or above them, and nothing overflows', async () => {
    const { page, close } = await place.open({ key: null, viewport: { width: 320, height: 740 } });
    await page.route(`**${CHARTS}`, async (route) => {
      const response = await route.fetch();
      const { data } = await response.json();
      // Not the installs, from which the page finds out what day it is.
      for (const metric of Object.values<Metric>(data).filter(({ unit }) => unit === 'USD')) {
        metric.value *= 1e12;
        metric.compare_value = -4e12;
        for (const series of metric.data) {
          Object.assign(series, { value: series.value * 1e9, compare_value: -4e12 });
          for (const point of series.values) point.y = 4e12;
        }
      }
      await route.fulfill({ response, json: { data } });
    });
    await signIn(page, place.world.key);
    await settle(page);
    const cut = `[...document.querySelectorAll('.figure-link > *, .headline > *')]
      .filter(({ parentElement: box, scrollWidth }) => scrollWidth > box.clientWidth)
      .map(({ textContent }) => textContent)`;
    expect(await page.locator('.figure-value').first().textContent()).toMatch(/^\$\d+(,\d{3}){4}/);
    expect(await page.evaluate(cut)).toEqual([]);
    await page.evaluate(`location.hash = '#/charts/revenue?segmentation=country&compare_date=previous'`);
    await settle(page);
    await page.locator('.headline-change').waitFor();
    expect(await page.evaluate(cut)).toEqual([]);
    await page.getByRole('slider').press('Home');
    await page.locator('.tooltip').waitFor();
    const cutLines = `[...document.querySelectorAll('.tooltip dl > div')]
      .filter((line) => line.scrollWidth > line.clientWidth || line.querySelector('dt').clientWidth < 60)
      .map(({ textContent }) => textContent)`;
    expect(await page.locator('.tooltip dd').first().textContent()).toBe('$4,000,000,000,000.00');
    expect(await page.evaluate(cutLines)).toEqual([]);
    expect(await findOverflow(page)).toBe(0);
    await close();
  });

  test('of many series, the first are read out and the others counted', async () => {
    const { page, close } = await place.open();
    await settle(page);
    await page.route(`**${CHARTS}`, async (route) => {
      const response = await route.fetch();
      const { data } = await response.json();
      const [total] = data.common.data;
      data.common.data = Array.from({ length: 20 }, (_, i) => ({ ...total, title: `S${i}`, type: `${i}` }));
      await route.fulfill({ response, json: { data } });
    });
    const series = Array.from({ length: 19 }, (_, i) => `&series=%3D${i + 1}`).join('');
    await page.evaluate(`location.hash = '#/charts/installs?segmentation=country&series=total${series}'`);
    await settle(page);
    const words = await page.getByRole('slider').getAttribute('aria-valuetext');
    expect(words).toMatch(/: S0 \d+, .*, S11 \d+, and 8 more$/);
    await close();
  });

  test('a table row has a heading even where only the compared days continue', async () => {
    const { page, close } = await place.open({
      view: '#/charts/mrr?date=2026-03-01_to_2026-03-02&compare_date=2026-01-01_to_2026-01-03',
    });
    await settle(page);
    const names = page.locator('.data-table tbody th');
    expect(await names.allTextContents()).toEqual(['Sun 1 Mar 2026', 'Mon 2 Mar 2026', 'Sat 3 Jan 2026']);
    await close();
  });

  test('the first arrow key moves one bucket from the one that was read out', async () => {
    const { page, close } = await place.open({
      view: '#/charts/mrr?date=2026-03-01_to_2026-03-07&compare_date=2026-01-01_to_2026-01-20',
    });
    await settle(page);
    const slider = page.getByRole('slider');
    const now = () => slider.getAttribute('aria-valuenow');
    for (const [key, next] of [
      ['ArrowRight', '8'],
      ['ArrowLeft', '6'],
    ] as const) {
      await slider.focus();
      expect(await now()).toBe('7');
      await page.keyboard.press(key);
      await expect.poll(now).toBe(next);
      await page.keyboard.press('Escape');
      await expect.poll(now).toBe('7');
    }
    await page.goto(
      `${place.world.service.url}/dashboard/#/charts/mrr?date=2126-03-01_to_2126-03-07&compare_date=2026-01-01_to_2026-01-20`,
    );
    await settle(page);
    expect(await now()).toBe('1');
    await close();
  });

  test('browser shortcuts still work', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr' });
    await settle(page);
    await page.getByRole('slider').focus();
    await page.evaluate(`addEventListener('keydown', (event) => { globalThis.wasTaken = event.defaultPrevented; })`);
    for (const [keys, wasTaken] of [
      ['Alt+ArrowLeft', false],
      ['Control+Home', false],
      ['Home', true],
    ] as const) {
      await page.keyboard.press(keys);
      expect(await page.evaluate('wasTaken')).toBe(wasTaken);
    }
    await close();
  });

  test('the tooltip of a bucket stays beside it when the window gets narrower', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr', viewport: { width: 1280, height: 900 } });
    await settle(page);
    await page.getByRole('slider').focus();
    await page.keyboard.press('End');
    await page.locator('.tooltip').waitFor();
    await page.setViewportSize({ width: 900, height: 900 });
    const gap = async () => {
      const [tooltip, line] = [page.locator('.tooltip'), page.locator('.u-cursor-x')];
      const [box, at] = await Promise.all([tooltip.boundingBox(), line.boundingBox()]);
      return at!.x - (box!.x + box!.width);
    };
    await expect.poll(gap).toBeGreaterThan(0);
    expect(await gap()).toBeLessThan(30);
    expect(await findOverflow(page)).toBe(0);
    await close();
  });

  test('a printed page has all rows, dark text and the legend, but no controls', async () => {
    const { page, close } = await place.open({
      view: '#/charts/mrr?date=last_90_days&compare_date=previous',
      colorScheme: 'dark',
    });
    await settle(page);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const table = page.locator('.data-table');
    const last = table.locator('tbody tr').last();
    const [whole, row] = await Promise.all([table.boundingBox(), last.boundingBox()]);
    expect(row!.y + row!.height).toBeLessThanOrEqual(whole!.y + whole!.height);
    const ink = `getComputedStyle(document.querySelector('.headline-value')).color`;
    expect(await page.evaluate(ink)).toBe('rgb(23, 25, 30)');
    const swatch = `getComputedStyle(document.querySelector('.legend .swatch')).printColorAdjust`;
    expect(await page.evaluate(swatch)).toBe('exact');
    for (const gone of ['.controls', '.side', '.chart-tools']) expect(await page.locator(gone).isVisible()).toBe(false);
    await close();
  });

  test('with forced colours, the legend keeps the colours of the drawing', async () => {
    const { page, close } = await place.open({
      forcedColors: 'active',
      view: '#/charts/mrr?segmentation=store&compare_date=previous',
    });
    await settle(page);
    const read = (property: string) =>
      page.evaluate(
        `[...document.querySelectorAll('.legend .swatch')].filter((one) => one.checkVisibility()).map((one) => getComputedStyle(one).${property})`,
      );
    const colours = (await read('backgroundColor')) as string[];
    expect(colours.length).toBeGreaterThan(4);
    expect(new Set(colours).size).toBe(colours.length);
    expect(await read('backgroundImage')).toContainEqual(expect.stringContaining('gradient'));
    await close();
  });

  test('going to another view moves the focus to its heading and sets the title of the tab', async () => {
    const { page, close } = await place.open();
    await settle(page);
    await page.getByRole('link', { name: 'ARPPU' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.title()).toBe('ARPPU · Dashboard');
    // The tag is checked too, because the link that was followed has the same text.
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('ARPPU');
    await close();
  });

  test('the first tab stop skips the navigation', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr' });
    await settle(page);
    await page.reload();
    await settle(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Days');
    await close();
  });

  test('a focused element that disappears passes the focus on', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr?filters.store=app_store' });
    await settle(page);
    const focused = () => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');
    await page.getByRole('button', { name: 'Remove filter Store' }).press('Enter');
    await settle(page);
    expect(await focused()).toBe('+ Filter');
    await page.route(`**${CHARTS}`, (route) => route.abort());
    await page.getByRole('button', { name: 'Download MRR as CSV' }).press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await focused()).toBe('Download MRR as CSV');
    await page.getByLabel('Period unit').selectOption('week');
    const retry = page.getByRole('button', { name: 'Try again' });
    await retry.waitFor();
    await page.unroute(`**${CHARTS}`);
    await retry.press('Enter');
    await settle(page);
    expect(await focused()).toBe('MRR, chart');
    await close();
  });

  test('the menu closes on a click on the current view, and on Escape', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr', viewport: { width: 390, height: 740 } });
    await settle(page);
    const menu = page.getByRole('button', { name: 'Menu' });
    for (const leave of [() => page.getByRole('link', { name: 'MRR' }).click(), () => page.keyboard.press('Escape')]) {
      await menu.click();
      await page.getByRole('navigation').waitFor();
      await leave();
      await page.getByRole('navigation').waitFor({ state: 'hidden' });
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Menu');
    }
    await close();
  });

  test('a filter can be chosen by keyboard alone, and the focus returns', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr' });
    await settle(page);
    await page.getByRole('button', { name: '+ Filter' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox').first().waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('my_store');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).hash).toBe('#/charts/mrr?filters.store=my_store');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('+ Filter');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('+ Filter');
    await close();
  });
});
