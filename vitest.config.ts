import { configDefaults, defineConfig } from 'vitest/config'

const setupFiles = ['tests/house/refuse-open-handles.ts']
const elsewhere = [...configDefaults.exclude, 'examples/**', 'bench/raw/**']
const integration = '**/*.integration.test.ts'
const house = 'tests/house/**/*.test.ts'
const endToEnd = 'tests/{e2e,chaos}/**/*.e2e.test.ts'

/**
 * Four projects. `unit` needs nothing; `house` reads our own source; `integration` runs against a real Redis and S3
 * that its global setup starts; `e2e` starts the whole stack, one file at a time and after everything else. Where there
 * is no Redis, the last two get one first.
 */
export default defineConfig({
  test: {
    maxWorkers: 2,
    allowOnly: false,
    projects: [
      {
        test: {
          name: 'unit',
          setupFiles,
          include: ['**/*.test.ts'],
          exclude: [...elsewhere, integration, house, endToEnd],
          testTimeout: 10_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'house',
          include: [house],
          exclude: elsewhere,
          testTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'integration',
          setupFiles,
          include: [integration],
          exclude: [...elsewhere, endToEnd],
          globalSetup: ['core/testing/redis-setup.ts', 'core/testing/global-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e',
          setupFiles,
          include: [endToEnd],
          exclude: elsewhere,
          globalSetup: 'core/testing/redis-setup.ts',
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
