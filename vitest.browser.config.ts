// The tests of the dashboard in a browser (npm run test:browser). One file at a time: they share two cores with the browser.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    // Real processes on a busy machine may miss a deadline once; a test that needed a second try is named as such.
    retry: process.env.CI ? 1 : 0,
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
