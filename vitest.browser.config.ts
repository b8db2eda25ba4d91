// The tests of the dashboard in a browser (npm run test:browser). Two files at a time: they wait for pages.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    // Real processes on a busy machine may miss a deadline once; a test that needed a second try is named as such.
    retry: process.env.CI ? 1 : 0,
    maxWorkers: 2,
    // What is waited for has come long before on a machine that is not busy; the default is one second.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
