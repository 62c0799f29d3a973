import { readFile } from 'node:fs/promises'
import type { ProgramResult, SandboxedProgram } from '#sandbox/sandboxed-program.ts'
import type { TestCase } from './junit-report.ts'
import { readTestReport } from './junit-report.ts'

export const testRunners = ['auto', 'pytest', 'unittest', 'node', 'vitest'] as const
export type TestRunner = (typeof testRunners)[number]

/** `cases` is undefined when the runner wrote no report, as when it could not start. */
export type TestRun = { runner: string; result: ProgramResult; cases: TestCase[] | undefined }

type Run = (program: Pick<SandboxedProgram, 'command' | 'report' | 'environment'>) => Promise<ProgramResult>

const report = '/tmp/remora-tests.xml'
const pythonRunner = new URL('run_python_tests.py', import.meta.url)
const scripts = new Set(['javascript', 'typescript', 'tsx'])

/** Plays another machine: what passes here alone depends on language, time zone or hash order. Sandboxes seldom have other locales than C. */
const elsewhere = {
  python: { LC_ALL: 'C', LANG: 'C', TZ: 'Pacific/Chatham', PYTHONHASHSEED: '7', TESTS_IN_REVERSE: '1' },
  script: { LC_ALL: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8', TZ: 'Pacific/Chatham' },
} as const

type TestOrder = { runner: TestRunner; paths: readonly string[]; language: string; isElsewhere?: boolean }

/** Runs the tests in `paths`, or all. `isElsewhere`: under another locale, time zone, hash seed and, but for node:test, order. */
export async function runTests(
  { runner, paths, language, isElsewhere = false }: TestOrder,
  run: Run,
): Promise<TestRun> {
  const used = runner === 'auto' && scripts.has(language) ? 'node' : runner
  // A name that begins with a dash is no option.
  const named = paths.map((path) => `./${path}`)
  const isScript = used === 'node' || used === 'vitest'
  const environment = isElsewhere ? { environment: isScript ? elsewhere.script : elsewhere.python } : {}
  const order = isElsewhere && used === 'vitest' ? ['--sequence.shuffle.tests', '--sequence.seed=7'] : []
  const result = await run({ command: await commandOf(used, [...order, ...named]), report, ...environment })
  const cases = await readTestReport(result)
  return { runner: isScript ? used : 'python', result, cases }
}

async function commandOf(runner: TestRunner, paths: readonly string[]): Promise<SandboxedProgram['command']> {
  switch (runner) {
    case 'node':
      return [...nodeTests(report), ...paths]
    case 'vitest':
      return vitest('run', '--reporter=junit', `--outputFile=${report}`, '--reporter=default', ...paths)
    default:
      return pythonTests(runner, paths, report)
  }
}

/** A command of vitest: the repository's own where its packages are installed, else one on the search path. */
export function vitest(...args: readonly string[]): SandboxedProgram['command'] {
  return ['sh', '-c', 'PATH="$PWD/node_modules/.bin:$PATH" exec vitest "$@"', 'vitest', ...args]
}

/** The command that runs tests with node:test and writes a JUnit report, but for the files to test. */
export function nodeTests(reportPath: string): ['node', ...string[]] {
  const reporters = ['--test-reporter=junit', `--test-reporter-destination=${reportPath}`]
  return ['node', '--test', ...reporters, '--test-reporter=spec', '--test-reporter-destination=stdout']
}

/** The command that runs Python tests and writes a JUnit report. After `unittest-cli`, `paths` are arguments of `python -m unittest`. */
export async function pythonTests(
  runner: TestRunner | 'unittest-cli',
  paths: readonly string[],
  reportPath: string,
): Promise<['python3', '-c', code: string, ...args: string[]]> {
  return ['python3', '-c', await readFile(pythonRunner, 'utf8'), reportPath, runner, ...paths]
}
