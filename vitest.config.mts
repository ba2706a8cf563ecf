import { defineConfig } from 'vitest/config';

const exclude = ['**/node_modules/**', '**/dist/**'];

/** Tests that start hosts. */
const hosts = { globalSetup: ['tests/support/build.ts'], testTimeout: 60_000, hookTimeout: 180_000 };

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['plugins/apps/**/*.test.{ts,tsx}', 'scripts/**/*.test.mjs', 'src/**/*.test.ts'],
          exclude,
        },
      },
      {
        test: {
          ...hosts,
          name: 'e2e',
          include: ['tests/**/*.test.ts'],
          exclude: [...exclude, 'tests/hostile/**'],
        },
      },
      // By itself (`npm run test:hostile`): it fills the machine, and would make other tests late.
      { test: { ...hosts, name: 'hostile', include: ['tests/hostile/**/*.test.ts'], exclude, fileParallelism: false } },
    ],
  },
});
