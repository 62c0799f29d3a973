import { readFile } from 'node:fs/promises'
import type { ProgramResult, SandboxedProgram } from '#sandbox/sandboxed-program.ts'
import { readJunitReport, type TestCase } from './junit-report.ts'

export const testRunners = ['auto', 'pytest', 'unittest', 'node'] as const
export type TestRunner = (typeof testRunners)[number]

/** `cases` is undefined when the runner wrote no report, as when it could not start. */
export type TestRun = { runner: string; result: ProgramResult; cases: TestCase[] | undefined }

type Run = (program: Pick<SandboxedProgram, 'command' | 'report'>) => Promise<ProgramResult>

const report = '/tmp/remora-tests.xml'
const pythonRunner = new URL('run_python_tests.py', import.meta.url)
const scripts = new Set(['javascript', 'typescript', 'tsx'])

/** Runs the tests in `paths`, or all of the repository's, with the runner of the language unless another is named. */
export async function runTests(
  { runner, paths, language }: { runner: TestRunner; paths: readonly string[]; language: string },
  run: Run,
): Promise<TestRun> {
  const isNode = runner === 'node' || (runner === 'auto' && scripts.has(language))
  // A name that begins with a dash is no option.
  const named = paths.map((path) => `./${path}`)
  const command = isNode ? nodeCommand(named) : await pythonTests(runner, named, report)
  const result = await run({ command, report })
  const cases = result.report && readJunitReport(Buffer.from(result.report).toString())
  return { runner: isNode ? 'node' : 'python', result, cases }
}

function nodeCommand(paths: readonly string[]): SandboxedProgram['command'] {
  return [...nodeTests(report), ...paths]
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
