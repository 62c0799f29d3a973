import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

const setupFiles = ['tests/house/refuse-open-handles.ts']
const elsewhere = [...configDefaults.exclude, 'examples/**', 'bench/raw/**']
const integration = '**/*.integration.test.ts'
const house = 'tests/house/**/*.test.ts'
const endToEnd = 'tests/e2e/**/*.e2e.test.ts'
const long = '**/*.long.test.ts'
/** These long tests run one file at a time, since their outcome depends on how busy the machine is. */
const alone = ['tests/chaos/chaos.long.test.ts', 'tests/e2e/shared-model.long.test.ts']
const stores = ['core/testing/redis-setup.ts', 'core/testing/global-setup.ts']
/** What waits for others ends when it hangs, not when the machine is busy. */
const patient = { testTimeout: 180_000, hookTimeout: 180_000 }

/**
 * `unit` needs nothing; `house` reads our own source; `integration` runs against a real Redis and S3 that its global setup starts;
 * `e2e` starts processes as a user does, after everything else. Where there is no Redis, the last two get one first. What waits often
 * has more workers than the two cores that CI has. The files of `unit` and of `integration` share their processes, since half of their
 * time would be to load the same modules again: none may leave a trace.
 */
const usual: TestProjectInlineConfiguration[] = [
  {
    test: {
      name: 'unit',
      setupFiles,
      include: ['**/*.test.ts'],
      exclude: [...elsewhere, integration, house, endToEnd, long],
      isolate: false,
      testTimeout: 60_000,
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
      ...patient,
      name: 'integration',
      setupFiles,
      include: [integration],
      exclude: elsewhere,
      globalSetup: stores,
      isolate: false,
      maxWorkers: 3,
      sequence: { groupOrder: 1 },
    },
  },
  {
    test: {
      ...patient,
      name: 'e2e',
      setupFiles,
      include: [endToEnd],
      exclude: elsewhere,
      globalSetup: 'core/testing/redis-setup.ts',
      maxWorkers: 3,
      sequence: { groupOrder: 2 },
    },
  },
]

/** Only `npm run test:all` runs these: they take minutes, or try very many cases. */
const longOnes: TestProjectInlineConfiguration[] = [
  {
    test: {
      ...patient,
      name: 'long',
      setupFiles,
      include: [long],
      exclude: [...elsewhere, ...alone],
      globalSetup: stores,
      maxWorkers: 3,
      sequence: { groupOrder: 3 },
    },
  },
  {
    test: {
      ...patient,
      name: 'long-alone',
      setupFiles,
      include: alone,
      exclude: elsewhere,
      globalSetup: 'core/testing/redis-setup.ts',
      fileParallelism: false,
      sequence: { groupOrder: 4 },
    },
  },
]

export default defineConfig(({ mode }) => {
  const isAll = mode === 'all'
  const env = { REMORA_TEST_DRAWS: isAll ? 'many' : 'few' }
  return {
    test: { maxWorkers: 2, allowOnly: false, env, projects: isAll ? [...usual, ...longOnes] : usual },
  }
})
