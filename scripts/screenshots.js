// Takes the README's screenshots of a running demo: node scripts/screenshots.js http://127.0.0.1:8080 $SECRET_KEY
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium-headless-shell';
const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));
const VIEWS = {
  overview: '#/',
  chart: '#/charts/mrr?date=last_12_months&period_unit=week&segmentation=country&compare_date=previous',
};

const [adminUrl, key] = process.argv.slice(2);
if (!adminUrl || !key) {
  console.error('usage: node scripts/screenshots.js ADMIN_URL SECRET_KEY');
  process.exit(2);
}

async function takeScreenshots(browser, colorScheme) {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  for (const [name, view] of Object.entries(VIEWS)) {
    await page.goto(`${adminUrl}/dashboard/${view}`);
    if (await page.getByLabel('Secret key').isVisible()) {
      await page.getByLabel('Secret key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
    }
    await page.locator('#content h1').waitFor();
    await page.locator('[aria-busy="true"], .waiting').first().waitFor({ state: 'detached' });
    await page.mouse.move(0, 0);
    // The border of the card under the button that was clicked fades.
    await page.waitForTimeout(500);
    await page.evaluate('document.fonts.ready');
    await page.screenshot({ path: `${FOLDER}${name}-${colorScheme}.png` });
  }
  await context.close();
}

mkdirSync(FOLDER, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
for (const colorScheme of ['light', 'dark']) await takeScreenshots(browser, colorScheme);
await browser.close();
