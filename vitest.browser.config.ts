// The dashboard's browser tests (npm run test:browser). Two files run at a time, because they wait for pages.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    // Real processes on a busy machine may miss a deadline once. A test that needed a retry is reported as such.
    retry: process.env.CI ? 1 : 0,
    maxWorkers: 2,
    // The default is one second. On a machine that is not busy, polls succeed long before this timeout.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
