import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/failure/**', 'test/browser/**'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    // Real processes on a busy machine may miss a deadline once; a test that needed a second try is named as such.
    retry: process.env.CI ? 1 : 0,
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
