// What the page shows without an answer to draw: that it is awaited, that there is nothing, or why there is none.
import { expect, test } from 'vitest';
import { COINS, importTransactions } from '../analytics/import.ts';
import { describeInBrowser, holdCharts, passMinute, settle, signIn } from './browser.ts';
import { CHARTS, lastDays } from './world.ts';

describeInBrowser('without an answer', (place) => {
  test('a long wait shows its seconds and can be stopped', async () => {
    const { page, messages, close } = await place.open();
    await settle(page);
    let aborted = 0;
    page.on('requestfailed', () => aborted++);
    await page.route(`**${CHARTS}`, () => undefined);
    await page.getByRole('link', { name: 'ARPU' }).click();
    await page.getByRole('progressbar', { name: 'Loading ARPU' }).waitFor();
    await expect
      .poll(() => page.locator('.waiting-words').textContent(), { timeout: 6_000 })
      .toMatch(/Loading ARPU, [2-5] s/);
    // Another question starts another wait.
    await page.getByLabel('Days', { exact: true }).selectOption('last_7_days');
    await expect.poll(() => page.locator('.waiting-words').count()).toBe(0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('Stopped before the answer arrived.');
    await expect.poll(() => aborted).toBe(2);
    await page.unroute(`**${CHARTS}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.headline-value').waitFor();
    expect(messages).toEqual([]);
    await close();
  });

  test('the current day is requested again after the user stops waiting for it', async () => {
    const { page, close } = await place.open({ view: '#/charts/installs' });
    await settle(page);
    await page.route(`**${CHARTS}`, () => undefined);
    // A zone whose current day is not known yet.
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.unroute(`**${CHARTS}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.headline-value').waitFor();
    await close();
  });

  test('the file has the days that are shown, even if another day has begun', async () => {
    const { page, close } = await place.open({ view: '#/charts/installs' });
    await settle(page);
    const [, last] = lastDays(28);
    // A minute later, the service answers with another day.
    await passMinute(page);
    await page.route(`**${CHARTS}`, async (route) => {
      const body = route.request().postDataJSON();
      if (body.format === 'csv') return route.continue();
      const response = await route.fetch();
      const { data } = await response.json();
      for (const one of data.common.data) one.values.at(-1).x = one.values.at(-1).x.replace(/^.{10}/, '2099-01-01');
      await route.fulfill({ response, json: { data } });
    });
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download Installs as CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toContain(last);
    await close();
  });

  test('a choice that completes after the user has left the chart changes nothing', async () => {
    const { page, close } = await place.open({ view: '#/charts/installs' });
    await settle(page);
    // The page follows its address in a task of its own, and the answer may arrive before that.
    await page.addInitScript(`globalThis.isFollowing = true;
      addEventListener('hashchange', (event) => isFollowing || event.stopImmediatePropagation());`);
    await page.reload();
    await settle(page);
    await passMinute(page);
    let asked = 0;
    const release = await holdCharts(page, () => {
      asked++;
    });
    await page.getByLabel('Days', { exact: true }).selectOption('Custom range…');
    await expect.poll(() => asked).toBe(1);
    const answered = page.waitForResponse(`**${CHARTS}`);
    await page.evaluate('globalThis.isFollowing = false');
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    release();
    await answered;
    await settle(page);
    expect(new URL(page.url()).hash).toBe('#/events');
    await page.evaluate("globalThis.isFollowing = true; dispatchEvent(new HashChangeEvent('hashchange'))");
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/events');
    await close();
  });

  test('suggested dates that arrive late are those before the days chosen by then', async () => {
    const { page, close } = await place.open({ view: '#/charts/mrr' });
    await settle(page);
    await passMinute(page);
    const release = await holdCharts(page);
    await page.getByLabel('Compared with').selectOption('Custom range…');
    await page.getByLabel('Days', { exact: true }).selectOption('last_7_days');
    await page.getByRole('progressbar').waitFor();
    release();
    await page.getByLabel('Compared from').waitFor();
    expect(new URL(page.url()).hash).toContain(`compare_date=${lastDays(7, { before: 7 }).join('_to_')}`);
    await close();
  });

  test('the old answer stays, dimmed, until the new one arrives', async () => {
    const { page, close } = await place.open({ view: '#/charts/installs' });
    await settle(page);
    const before = await page.locator('.headline-value').textContent();
    const release = await holdCharts(page);
    await page.getByLabel('Days', { exact: true }).selectOption('last_90_days');
    await page.getByRole('progressbar').waitFor();
    expect(await page.locator('.headline-value').textContent()).toBe(before);
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.headline')).opacity`)).toBe('0.45');
    release();
    await settle(page);
    await expect.poll(() => page.locator('.headline-value').textContent()).not.toBe(before);
    await close();
  });

  test('a stale answer is requested again when the user returns to the tab', async () => {
    const { page, close } = await place.open({ view: '#/charts/installs' });
    await settle(page);
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith(CHARTS)) asked++;
    });
    const comeBack = async (minutes: number) => {
      await page.evaluate(`(() => { const now = Date.now; Date.now = () => now() + ${minutes * 60_000}; })()`);
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await settle(page);
      return asked;
    };
    expect(await comeBack(4)).toBe(0);
    // One request for today's date, and one for the chart.
    expect(await comeBack(2)).toBe(2);
    expect(await comeBack(4)).toBe(2);
    await close();
  });

  test('an unreachable service is reported and can be retried', async () => {
    const { page, close } = await place.open();
    await settle(page);
    await page.route(`**${CHARTS}`, (route) => route.abort());
    await page.getByRole('link', { name: 'ARPU' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('cannot be reached');
    await page.unroute(`**${CHARTS}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.headline-value').waitFor();
    await close();
  });

  test('a failure to suggest dates is explained until the next question', async () => {
    const { page, close } = await place.open({ view: '#/charts/revenue?zone=Nowhere' });
    await settle(page);
    const problem = page.locator('.controls').getByRole('alert');
    await page.getByLabel('Days', { exact: true }).selectOption('Custom range…');
    await expect.poll(() => problem.textContent()).toContain('service-tz: Must be the IANA name of a time zone');
    await page.getByLabel('Time zone').selectOption('UTC');
    await page.locator('.headline-value').waitFor();
    expect(await problem.count()).toBe(0);
    await close();
  });

  test('a failed download is reported visibly', async () => {
    const { page, close } = await place.open({ view: '#/charts/arpu' });
    await settle(page);
    await page.route(`**${CHARTS}`, (route) => route.abort());
    await page.getByRole('button', { name: 'Download ARPU as CSV' }).click();
    const alert = page.getByRole('alert');
    await expect.poll(() => alert.textContent()).toContain('cannot be reached');
    expect((await alert.boundingBox())?.width).toBeGreaterThan(100);
    await page.unroute(`**${CHARTS}`);
    await page.getByRole('button', { name: 'Download ARPU as CSV' }).click();
    await expect.poll(() => alert.count()).toBe(0);
    await close();
  });

  test('a download runs until it is stopped or the user signs out', async () => {
    const { page, close } = await place.open({ view: '#/charts/arpu' });
    await settle(page);
    let aborted = 0;
    page.on('requestfailed', () => aborted++);
    await page.route(`**${CHARTS}`, () => undefined);
    const download = page.getByRole('button', { name: 'Download ARPU as CSV' });
    await download.dblclick();
    await page.getByRole('button', { name: 'Stop the download' }).press('Enter');
    await expect.poll(() => aborted).toBe(1);
    await download.waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await download.click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect.poll(() => aborted).toBe(2);
    await close();
  });

  test.each([
    [500, 'The service failed to handle this request.'],
    [503, 'The service is busy or its database is unavailable.'],
  ])('status %d is explained', async (status, sentence) => {
    const { page, close } = await place.open();
    await settle(page);
    await page.route(`**${CHARTS}`, (route) =>
      route.fulfill({ status, json: { errors: [], error_code: 'x', status_code: status } }),
    );
    await page.getByRole('link', { name: 'ARPU' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain(sentence);
    await close();
  });

  test('an answer that breaks off counts as an unreachable service', async () => {
    const { page, close } = await place.open();
    await settle(page);
    await page.evaluate(`(() => {
      const ask = fetch;
      globalThis.fetch = async (...asked) => {
        const response = await ask(...asked);
        const start = (body) => { body.enqueue(new TextEncoder().encode('{"data":')); };
        const pull = (body) => body.error(new TypeError('network error'));
        return new Response(new ReadableStream({ start, pull }), response);
      };
    })()`);
    await page.getByRole('link', { name: 'ARPU' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('cannot be reached');
    await close();
  });

  test.each([
    ['is nothing', null],
    ['is empty', {}],
    ['has no metric', { data: {} }],
    ['lacks a money basis', { data: { revenue: { data: [] } } }],
  ])('an answer that %s is reported', async (_, json) => {
    const { page, messages, close } = await place.open();
    await settle(page);
    await page.route(`**${CHARTS}`, (route) => route.fulfill({ body: JSON.stringify(json) }));
    await page.getByRole('link', { name: 'ARPU' }).click();
    await expect
      .poll(() => page.getByRole('alert').textContent())
      .toContain('The page received an unexpected response.');
    expect(messages).toEqual([]);
    await close();
  });

  test.each([
    ['the catalogue', '#/', '**/metrics/catalog/'],
    ['the feed', '#/events', '**/client-api/events/**'],
  ])('an answer for %s without data is reported', async (_, view, path) => {
    const { page, close } = await place.open({ view });
    await settle(page);
    await page.route(path, (route) => route.fulfill({ json: {} }));
    await page.reload();
    await expect
      .poll(() => page.getByRole('alert').textContent())
      .toContain('The page received an unexpected response.');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Secret key').waitFor();
    await close();
  });

  test('a rate limit that ends in a moment is waited out', async () => {
    const { page, close } = await place.open();
    await settle(page);
    let asked = 0;
    await page.route(`**${CHARTS}`, (route) => {
      asked++;
      return asked === 1 ? route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: {} }) : route.continue();
    });
    await page.getByRole('link', { name: 'ARPU' }).click();
    await page.locator('.headline-value').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await close();
  });

  test.each([
    ['in seconds', () => '3600'],
    ['as a date', () => new Date(Date.now() + 3_600_000).toUTCString()],
  ])('a longer rate limit (%s) is not waited out; the page says when it ends', async (_, after) => {
    const { page, close } = await place.open();
    await settle(page);
    let asked = 0;
    await page.route(`**${CHARTS}`, (route) => {
      asked++;
      return route.fulfill({ status: 429, headers: { 'retry-after': after() }, body: 'slow down' });
    });
    await page.clock.install();
    await page.getByRole('link', { name: 'ARPU' }).click();
    const alert = page.getByRole('alert');
    await expect.poll(() => alert.textContent()).toMatch(/Try again in 60 minutes, after \d+ \w+ \d{4}, [\d:]{8}\./);
    await page.clock.fastForward('59:00');
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await settle(page);
    expect(asked).toBe(1);
    expect(await alert.count()).toBe(1);
    await close();
  });

  test.each([
    ['installs', 'date=2015-01-01_to_2015-01-31', 'Nothing happened on these days.Choose other days.'],
    [
      'refund_events',
      'date=2015-01-01_to_2015-01-31&date_type=profile_install_date',
      'The value is zero in every period.Choose other days.',
    ],
    ['revenue', 'date=2015-01-01_to_2015-01-31', 'The value is zero in every period.Choose other days.'],
    [
      'revenue',
      'date=2015-01-01_to_2015-01-31&segmentation=country',
      'Nothing happened on these days.Choose other days.',
    ],
    ['mrr', 'date=2015-01-01_to_2015-01-31', 'The value is zero in every period.Choose other days.'],
    [
      'arpu',
      'date=2015-01-01_to_2015-01-31&filters.store=stripe',
      'The value is zero in every period.Choose other days or fewer filters.',
    ],
    ['mrr', 'date=2126-01-01_to_2126-01-31&filters.store=stripe', 'These days are in the future.Choose other days.'],
  ])('days without any %s (%s) are reported as such', async (chart_id, members, words) => {
    const { page, messages, close } = await place.open({ view: `#/charts/${chart_id}?${members}` });
    await settle(page);
    expect(await page.locator('.notice').textContent()).toBe(words);
    expect(messages).toEqual([]);
    await close();
  });

  test('sales refunded within their periods do not count as nothing happening', async () => {
    await importTransactions(place.world.service, [
      {
        ...COINS,
        customer_user_id: 'user-1',
        purchased_at: '2015-03-10T08:00:00Z',
        refunded_at: '2015-03-10T09:00:00Z',
        cancellation_reason: 'refund',
      },
    ]);
    for (const segmentation of ['', '&segmentation=country']) {
      const view = `#/charts/revenue?date=2015-03-01_to_2015-03-31${segmentation}`;
      const { page, close } = await place.open({ view });
      await settle(page);
      expect(await page.locator('.notice-title').textContent()).toBe('The value is zero in every period.');
      await close();
    }
  });

  test('a ratio that only the whole range has is not reported as zero', async () => {
    const { page, close } = await place.open({ view: '#/charts/arpu', key: null });
    await page.route(`**${CHARTS}`, async (route) => {
      const response = await route.fetch();
      const { data } = await response.json();
      // As if some days had revenue but no installs, and others installs but no revenue.
      if (route.request().postDataJSON().chart_id === 'arpu') {
        for (const point of data.revenue.data[0].values) point.y = 0;
      }
      await route.fulfill({ response, json: { data } });
    });
    await signIn(page, place.world.key);
    await settle(page);
    expect(await page.locator('.headline-value').textContent()).not.toBe('$0.00');
    expect(await page.locator('.notice').count()).toBe(0);
    expect(await page.locator('.data-table tbody tr').count()).toBe(28);
    await close();
  });

  test('with all series switched off, there is a way back to the default ones', async () => {
    const { page, close } = await place.open({
      view: '#/charts/revenue?date=last_90_days&segmentation=country&series=',
    });
    await settle(page);
    expect(await page.locator('.notice-title').textContent()).toBe('All series are switched off.');
    expect(await page.getByRole('slider').count()).toBe(0);
    expect(await page.locator('.legend th').first().textContent()).toMatch(/^Series, 0 of \d+ segments drawn$/);
    await page.getByRole('button', { name: 'Show the default series' }).press('Enter');
    await page.getByRole('slider').waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Revenue, chart');
    expect(await page.locator('.legend th').first().textContent()).toMatch(/^Series, 8 of \d+ segments drawn$/);
    await close();
  });

  test('what the service refuses is reported in its words', async () => {
    const { page, close } = await place.open({ view: '#/charts/revenue?filters.country=usa' });
    await settle(page);
    expect(await page.getByRole('alert').textContent()).toContain('filters.country: Must be 2-letter country codes');
    await close();
  });

  test('a chart that does not exist is reported as such', async () => {
    const { page, close } = await place.open({ view: '#/charts/weather' });
    await settle(page);
    expect(await page.locator('main').textContent()).toContain('The service has no chart weather.');
    await close();
  });
});
