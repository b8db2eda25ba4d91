// Signing in and out, and what happens to the key.
import { expect, test } from 'vitest';
import { createKey, revokeKey } from '../../src/apps/service.ts';
import { describeInBrowser, passMinute, settle, signIn } from './browser.ts';

describeInBrowser('signing in', (place) => {
  test('a wrong key and a public key each get a message of their own', async () => {
    const { page, close } = await place.open({ key: null });
    const isInvalid = () => page.getByLabel('Secret key').getAttribute('aria-invalid');
    await signIn(page, '');
    await expect.poll(() => page.getByRole('alert').textContent()).toBe('Paste a secret key first.');
    await signIn(page, place.world.service.publicKey);
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('This is a public key.');
    for (const wrong of [`${place.world.key.slice(0, -4)}zzzz`, 'rubbish', 'schlüssel']) {
      await signIn(page, wrong);
      await expect.poll(() => page.getByRole('alert').textContent()).toContain('This key is not accepted');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign in');
      expect(await isInvalid()).toBe('true');
    }
    await page.route('**/metrics/analytics/', (route) => route.abort());
    await signIn(page, place.world.key);
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('cannot be reached');
    expect(await isInvalid()).toBe('false');
    await page.route('**/metrics/analytics/', (route) => route.fulfill({ status: 404, body: 'a proxy' }));
    await signIn(page, place.world.key);
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('Its status is 404.');
    await close();
  });

  test('the key is stored in the tab alone and sent to this origin alone', async () => {
    const { page, messages, close } = await place.open({ key: null });
    const origins = new Set<string>();
    const carriers = new Set<string>();
    page.on('request', (request) => {
      origins.add(new URL(request.url()).origin);
      if (request.headers().authorization) carriers.add(new URL(request.url()).pathname);
      expect(request.url()).not.toContain(place.world.key);
    });
    await signIn(page, place.world.key);
    await settle(page);
    expect([...origins]).toEqual([place.world.service.url]);
    expect([...carriers]).toEqual(['/api/v1/client-api/metrics/analytics/']);
    const stored = await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])');
    expect(JSON.parse(stored as string)).toEqual([{ secret_key: place.world.key }, {}, '']);
    expect(messages).toEqual([]);
    await close();
  });

  test('a reload keeps the key, and signing out forgets it', async () => {
    const { page, close } = await place.open();
    await settle(page);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await page.reload();
    await settle(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Secret key').waitFor();
    expect(await page.evaluate('document.activeElement.type')).toBe('password');
    expect(await page.title()).toBe('Sign in · Dashboard');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await page.reload();
    await page.getByLabel('Secret key').waitFor();
    await close();
  });

  test.each([
    [
      'keeps nothing for pages',
      `Object.defineProperty(globalThis, 'sessionStorage', {
        get() { throw new DOMException('Access is denied', 'SecurityError'); },
      })`,
    ],
    [
      'has no room for the key',
      `Storage.prototype.setItem = () => { throw new DOMException('It is full', 'QuotaExceededError'); }`,
    ],
  ])('a browser that %s asks for the key after each reload', async (_, script) => {
    const { page, messages, close } = await place.open({ key: null });
    await page.addInitScript(script);
    await page.reload();
    await signIn(page, place.world.key);
    await settle(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Secret key').waitFor();
    expect(messages).toEqual([]);
    await close();
  });

  test('signing in opens the view of the address', async () => {
    const { page, close } = await place.open({ view: '#/charts/arr' });
    await expect.poll(() => page.locator('h1').textContent()).toBe('ARR');
    await close();
  });

  test('a late refusal of the previous key does not sign out the current one', async () => {
    const { deps, appId } = place.world.service;
    const { key } = await createKey(deps, { appId, kind: 'secret', scope: 'analytics' });
    const { page, close } = await place.open({ view: '#/charts/arr', key });
    await settle(page);
    // The page then asks what day it is, and nobody aborts that request.
    await passMinute(page);
    let refuse: (() => Promise<void>) | undefined;
    await page.route('**/metrics/analytics/', async (route) => {
      if (refuse) return route.continue();
      refuse = () => route.fulfill({ status: 401, json: { errors: [] } });
    });
    await page.getByLabel('Days', { exact: true }).selectOption('Custom range…');
    await expect.poll(() => refuse).toBeDefined();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, place.world.key);
    await settle(page);
    const refused = page.waitForResponse((response) => response.status() === 401);
    await refuse?.();
    await refused;
    await page.getByRole('link', { name: 'ARPPU' }).click();
    await expect.poll(() => page.locator('h1').textContent()).toContain('ARPPU');
    expect(await page.evaluate('sessionStorage.length')).toBe(1);
    await close();
  });

  test('if the key is revoked, the page says so and asks for another', async () => {
    const { deps, appId } = place.world.service;
    const { key_id, key } = await createKey(deps, { appId, kind: 'secret', scope: 'analytics' });
    const { page, close } = await place.open({ key });
    await settle(page);
    await revokeKey(deps, key_id);
    // A revoked key is refused within two seconds.
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    await page.getByRole('link', { name: 'ARPPU' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('no longer accepted');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await close();
  });
});
