import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/failure/**', 'test/browser/**'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    // Modules are loaded once per worker, not once per file: a fifth of the time. So no test replaces or counts on the state
    // of a module; what a file needs of its own is its database, its service and its clock.
    isolate: false,
    // Real processes on a busy machine may miss a deadline once; a test that needed a second try is named as such.
    retry: process.env.CI ? 1 : 0,
    // One more than the processors of a small machine: many tests wait for a deadline or for another process.
    maxWorkers: 3,
    // What is waited for has come long before on a machine that is not busy; the default is one second.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
