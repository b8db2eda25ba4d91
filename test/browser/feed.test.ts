// The event feed: newest first, with payload and deliveries on click, filtered by type and by profile.
import { expect, test } from 'vitest';
import { describeInBrowser, settle } from './browser.ts';
import { GRANT } from './world.ts';

/** Events per page of the feed. */
const PAGE = 50;

describeInBrowser('the event feed', (place) => {
  const FEED = '/api/v1/client-api/events/';

  test('shows what the operation returns', async () => {
    const { page, messages, close } = await place.open({ view: '#/events' });
    await settle(page);
    const { json } = await place.world.service.call('GET', FEED, { key: place.world.key });
    const types = json.data.map(({ event_type }: { event_type: string }) => event_type);
    expect(types.length).toBeGreaterThanOrEqual(3);
    expect(await page.locator('.event-type').allTextContents()).toEqual(types);
    const owners = json.data.map(({ payload }: { payload: { customer_user_id: string } }) => payload.customer_user_id);
    expect(await page.locator('.event-owner').allTextContents()).toEqual(owners);

    const first = page.locator('.feed li').first();
    await first.locator('summary').click();
    expect(JSON.parse((await first.locator('pre').textContent()) as string)).toEqual(json.data[0].payload);
    const [{ webhook_id, attempts, last_status }] = json.data[0].deliveries;
    expect(await first.locator('.deliveries tbody td').allTextContents()).toEqual([
      webhook_id,
      'Delivered',
      String(attempts),
      String(last_status),
      '–',
    ]);
    expect(messages).toEqual([]);
    await close();
  });

  test('puts its filters into the address', async () => {
    const { page, close } = await place.open({ view: '#/events' });
    await settle(page);
    await page.getByLabel('Customer user ID').fill('user-2');
    await page.getByLabel('Event type').selectOption('access_level_updated');
    await page.getByRole('button', { name: 'Show' }).click();
    await expect.poll(() => page.locator('.event-owner').allTextContents()).toEqual(['user-2']);
    expect(new URL(page.url()).hash).toBe('#/events?event_type=access_level_updated&customer_user_id=user-2');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Show');
    await page.goBack();
    await expect.poll(() => page.getByLabel('Customer user ID').inputValue()).toBe('');
    await page.goForward();
    await expect.poll(() => page.getByLabel('Customer user ID').inputValue()).toBe('user-2');
    await page.getByLabel('Customer user ID').fill('');
    await page.getByLabel('Customer user ID').pressSequentially(' no body ');
    await page.getByRole('button', { name: 'Show' }).click();
    await expect.poll(() => new URL(page.url()).hash).toContain('customer_user_id=no+body');
    expect(await page.getByLabel('Customer user ID').inputValue()).toBe('no body');
    await expect.poll(() => page.locator('.notice-title').textContent()).toBe('No matching events.');
    await close();
  });

  test('requests event types again that failed to load', async () => {
    const { page, close } = await place.open({ view: '#/events' });
    await settle(page);
    await page.route('**/openapi.json', (route) => route.abort());
    await page.reload();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('The event types could not be loaded.');
    await page.unroute('**/openapi.json');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByLabel('Event type').selectOption('access_level_updated');
    expect(await page.getByRole('alert').count()).toBe(0);
    await close();
  });

  test('dims the events of the previous filters while it waits for the new ones', async () => {
    const { page, close } = await place.open({ view: '#/events?customer_user_id=user-1' });
    await settle(page);
    expect(await page.locator('.feed ul.outdated').count()).toBe(0);
    await page.route(`**${FEED}?*`, () => undefined);
    await page.getByLabel('Customer user ID').fill('nobody');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.locator('.feed ul.outdated').waitFor();
    await close();
  });

  test('explains that an event type does not exist', async () => {
    const { page, close } = await place.open({ view: '#/events?event_type=rain' });
    await settle(page);
    expect(await page.getByRole('alert').textContent()).toContain('event_type: Must be one of: access_level_updated');
    await close();
  });

  test('loads older events on request', async () => {
    const { service } = place.world;
    for (let i = 0; i < PAGE; i++) {
      const headers = { 'service-customer-user-id': 'user-4' };
      await service.call('POST', GRANT, { key: service.secretKey, headers, body: { access_level_id: 'premium' } });
    }
    const { page, messages, close } = await place.open({ view: '#/events' });
    await settle(page);
    const owners = () => page.locator('.event-owner').allTextContents();
    expect(await owners()).toEqual(Array(PAGE).fill('user-4'));
    expect(await page.locator('.feed .state').first().textContent()).toBe('Pending');
    await page.locator('.feed summary').first().click();
    await page.route(`**${FEED}?*cursor*`, (route) => route.abort());
    await page.getByRole('button', { name: 'Older events' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('cannot be reached');
    // What was there stays as it was.
    expect(await owners()).toEqual(Array(PAGE).fill('user-4'));
    expect(await page.locator('.feed details[open]').count()).toBe(1);
    await page.unroute(`**${FEED}?*cursor*`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(async () => (await owners()).length).toBe(PAGE + 3);
    expect(messages.splice(0)).toEqual(['error: Failed to load resource: net::ERR_FAILED']);
    await page.reload();
    await settle(page);
    await page.getByRole('button', { name: 'Older events' }).press('Enter');
    await expect.poll(owners).toEqual([...Array(PAGE).fill('user-4'), 'user-3', 'user-2', 'user-1']);
    expect(await page.getByRole('button', { name: 'Older events' }).count()).toBe(0);
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Events');
    expect(messages).toEqual([]);
    await close();
  });
});
