import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

const setupFiles = ['tests/house/refuse-open-handles.ts']
const elsewhere = [...configDefaults.exclude, 'examples/**', 'bench/raw/**']
const integration = '**/*.integration.test.ts'
/**
 * They start many programs. From the large processes that other integration tests share, a program costs 20 to 30 ms of CPU to start; from
 * one of their own, 2 (decision 73).
 */
const programs = [
  'cli/apply/commit-changes.integration.test.ts',
  'cli/commands/apply-command.integration.test.ts',
  'cli/commands/publish-command.integration.test.ts',
  'cli/stack/start-stack.integration.test.ts',
  'code-hosts/git*.integration.test.ts',
  'languages/go/lint/go-linter.integration.test.ts',
  'platform/obtain-program.integration.test.ts',
  'platform/unified-diff.integration.test.ts',
  'sandbox/open-sandbox.integration.test.ts',
  'tool-scripts/{answer-external,check-script-property,script-pool}.integration.test.ts',
  'agents/test/host/externals/*.integration.test.ts',
  'stages/discover/unwanted/*.integration.test.ts',
  'stages/compose/gate/run-gate.integration.test.ts',
  'stages/operate/tools/tests/*.integration.test.ts',
  'stages/operate/workspace/changed-tree.integration.test.ts',
  'tests/chaos/machines.integration.test.ts',
]
const house = 'tests/house/**/*.test.ts'
const endToEnd = 'tests/e2e/**/*.e2e.test.ts'
const long = '**/*.long.test.ts'
/** These long tests run one file at a time, since their outcome depends on how busy the machine is. */
const alone = ['tests/chaos/chaos.long.test.ts', 'tests/e2e/shared-model.long.test.ts']
const stores = ['testing/redis-setup.ts', 'testing/global-setup.ts']
/** What waits for others ends when it hangs, not when the machine is busy. */
const patient = { testTimeout: 180_000, hookTimeout: 180_000 }

const withStores = { ...patient, setupFiles, globalSetup: stores, maxWorkers: 3, sequence: { groupOrder: 1 } }

/** Threads and programs that tests start would strip and compile the same modules again: a quarter of the CPU of a test of services. */
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache')

/**
 * `unit` needs nothing; `house` reads our own source; `integration` and `programs` run against a real Redis and S3 that their global setup starts;
 * `e2e` starts processes as a user does, after everything else. Where there is no Redis, all but the first two get one first. What waits often
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
  { test: { ...withStores, name: 'programs', include: programs, exclude: elsewhere } },
  {
    test: {
      ...withStores,
      name: 'integration',
      include: [integration],
      exclude: [...elsewhere, ...programs],
      isolate: false,
    },
  },
  {
    test: {
      ...patient,
      name: 'e2e',
      setupFiles,
      include: [endToEnd],
      exclude: elsewhere,
      globalSetup: 'testing/redis-setup.ts',
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
      globalSetup: 'testing/redis-setup.ts',
      fileParallelism: false,
      sequence: { groupOrder: 4 },
    },
  },
]

export default defineConfig(({ mode }) => {
  const isAll = mode === 'all'
  const env = { REMORA_TEST_DRAWS: process.env['REMORA_TEST_DRAWS'] ?? (isAll ? 'many' : 'few') }
  return {
    test: { maxWorkers: 2, allowOnly: false, env, projects: isAll ? [...usual, ...longOnes] : usual },
  }
})
