// The long failure tests (npm run test:failure): real processes, killed and cut off. Two files run at a time, because
// they wait for deadlines.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/failure/**/*.test.ts'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    // Real processes on a busy machine may miss a deadline once. A test that needed a retry is reported as such.
    retry: process.env.CI ? 1 : 0,
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
