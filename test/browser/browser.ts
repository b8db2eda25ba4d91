// Opens the dashboard in Debian's headless Chromium, which opens a page in half the time of the full one. Everything
// that the page writes to its console is kept.
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { CHARTS, createWorld, type World } from './world.ts';

const CHROMIUM = '/usr/bin/chromium-headless-shell';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Tab {
  page: Page;
  /** Console messages and uncaught errors. */
  messages: string[];
  close: () => Promise<void>;
}

export interface OpenOptions extends BrowserContextOptions {
  /** The view, as the fragment of the address. */
  view?: string;
  /** The key to sign in with; null means not to sign in. */
  key?: string | null;
}

export interface Place {
  world: World;
  open: (options?: OpenOptions) => Promise<Tab>;
}

async function openTab(browser: Browser, world: World, options: OpenOptions): Promise<Tab> {
  const { view = '#/', key = world.key, ...settings } = options;
  const context = await browser.newContext({ timezoneId: 'America/New_York', ...settings });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const messages: string[] = [];
  page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => messages.push(`uncaught: ${error.message}`));
  await page.goto(`${world.service.url}/dashboard/${view}`);
  if (key !== null) await signIn(page, key);
  return { page, messages, close: () => context.close() };
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Secret key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Waits until the page awaits no answer any more. */
export async function settle(page: Page): Promise<void> {
  // A click changes the address immediately, but the page becomes busy only some frames later.
  await page.evaluate('(async () => { for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame); })()');
  await page.locator('#content h1').waitFor();
  await page.locator('[aria-busy="true"], .waiting').first().waitFor({ state: 'detached' });
}

/** Moves the page's clock on by a little more than a minute, so that the page asks what day it is again. */
export async function passMinute(page: Page): Promise<void> {
  await page.evaluate('(() => { const now = Date.now; Date.now = () => now() + 61_000; })()');
}

/**
 * Holds back the answers to charts until the returned function is called. Calls `onAsked` for every request meanwhile.
 */
export async function holdCharts(page: Page, onAsked = () => {}): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(`**${CHARTS}`, async (route) => {
    onAsked();
    await released;
    await route.continue();
  });
  return release;
}

/** Runs tests with a service and a browser of their own. Skips them, and says why, if there is no browser. */
export function describeInBrowser(name: string, tests: (place: Place) => void): void {
  const isMissing = !existsSync(CHROMIUM);
  if (isMissing)
    process.stderr.write(`skipped: ${name}: ${CHROMIUM} is missing (apt-get install chromium-headless-shell)\n`);
  describe.skipIf(isMissing)(name, () => {
    const place = {} as Place;
    let browser: Browser;
    beforeAll(async () => {
      place.world = await createWorld();
      browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
      place.open = (options = {}) => openTab(browser, place.world, options);
    });
    afterAll(async () => {
      await browser?.close();
      await place.world?.close();
    });
    tests(place);
  });
}
