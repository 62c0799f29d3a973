import { configDefaults, defineConfig } from 'vitest/config'

const setupFiles = ['tests/house/refuse-open-handles.ts']
const elsewhere = [...configDefaults.exclude, 'examples/**', 'bench/raw/**']
const integration = '**/*.integration.test.ts'
const house = 'tests/house/**/*.test.ts'
const endToEnd = 'tests/{e2e,chaos}/**/*.e2e.test.ts'
/** Of the end-to-end tests, those whose outcome depends on how busy the machine is. */
const alone = ['tests/chaos/**/*.e2e.test.ts', 'tests/e2e/shared-model.e2e.test.ts']
const stack = {
  setupFiles,
  globalSetup: 'core/testing/redis-setup.ts',
  testTimeout: 180_000,
  hookTimeout: 120_000,
}

/**
 * Five projects. `unit` needs nothing; `house` reads our own source; `integration` runs against a real Redis and S3 that its
 * global setup starts; `e2e` starts the whole stack, after everything else, and `e2e-alone` one file at a time after that. Where
 * there is no Redis, the last three get one first. What waits often has more workers than the two cores that CI has. The files of
 * `unit` share their processes, since half of their time would be to load the same modules again: none may leave a trace.
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
          isolate: false,
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
          maxWorkers: 3,
          testTimeout: 90_000,
          hookTimeout: 90_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...stack,
          name: 'e2e',
          include: [endToEnd],
          exclude: [...elsewhere, ...alone],
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...stack,
          name: 'e2e-alone',
          include: alone,
          exclude: elsewhere,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
