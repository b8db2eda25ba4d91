import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/failure/**', 'test/browser/**'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    // Modules are loaded once per worker: loading them once per file took a fifth of the suite's time. So no test may
    // replace a module or rely on its state; what a file has of its own is its database, its service and its clock.
    isolate: false,
    // Real processes on a busy machine may miss a deadline once. A test that needed a retry is reported as such.
    retry: process.env.CI ? 1 : 0,
    // One more than the cores of a small machine: many tests wait for a deadline or for another process.
    maxWorkers: 3,
    // The default is one second. On a machine that is not busy, polls succeed long before this timeout.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
