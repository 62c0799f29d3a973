import type { ProgramResult, SandboxedProgram } from '#sandbox/sandboxed-program.ts'
import { readJunitReport } from '../../tools/programs/junit-report.ts'
import { nodeTests, pythonTests } from '../../tools/programs/run-tests.ts'

/** What one run of the gate's command says: the tests that passed, and those that did not with what was said of them. */
export type TestResults =
  | { kind: 'ran'; passed: ReadonlySet<string>; failed: ReadonlyMap<string, string>; namesTests: boolean }
  | { kind: 'unusable'; reason: string }

export type RunProgram = (program: Pick<SandboxedProgram, 'command' | 'report'>) => Promise<ProgramResult>

const report = '/tmp/remora-gate.xml'
/** Stands for the command where it names no tests. */
const wholeCommand = 'the command'

/** Commands whose reports are asked for, so that each test is judged for itself. */
const known: {
  pattern: RegExp
  program(rest: string): Promise<SandboxedProgram['command']> | SandboxedProgram['command']
}[] = [
  {
    pattern: /^(?:python3? -m )?pytest\b(.*)$/,
    program: (rest) => shell(`python3 -m pytest --junitxml=${report} -p no:cacheprovider${rest}`),
  },
  { pattern: /^python3? -m unittest(?: discover)?\s*$/, program: () => pythonTests('unittest', [], report) },
  { pattern: /^node --test\b(.*)$/, program: (rest) => shell(`${nodeTests(report).join(' ')}${rest}`) },
]

function shell(script: string): SandboxedProgram['command'] {
  return ['sh', '-c', script]
}

/** Runs the command once. TOOL_005 where there is no sandbox. */
export async function runGateCommand(command: string, run: RunProgram): Promise<TestResults> {
  const text = command.trim()
  const found = known.flatMap(({ pattern, program }) => {
    const rest = pattern.exec(text)
    return rest === null || /[;&|<>`$()]/.test(text) ? [] : [() => program(rest[1] ?? '')]
  })[0]
  if (found === undefined) return byExitCode(await run({ command: shell(text) }))
  const result = await run({ command: await found(), report })
  const cases = result.report && readJunitReport(Buffer.from(result.report).toString())
  if (result.ending.kind === 'stopped' || cases === undefined || cases.length === 0) return byExitCode(result)
  const ran = cases.filter(({ outcome }) => outcome !== 'skipped')
  const bad = ran.filter(({ outcome }) => outcome !== 'passed')
  const failed = new Map(bad.map(({ name, message = '' }) => [name, message] as const))
  // Of two tests with one name both must pass.
  const passed = new Set(ran.flatMap(({ name }) => (failed.has(name) ? [] : name)))
  return { kind: 'ran', passed, failed, namesTests: true }
}

function byExitCode({ ending, output }: ProgramResult): TestResults {
  if (ending.kind === 'stopped') return { kind: 'unusable', reason: `it was stopped by its limit of ${ending.reason}` }
  if (ending.code === 126 || ending.code === 127)
    return { kind: 'unusable', reason: `it does not start: ${lastLine(output)}` }
  const isFine = ending.code === 0
  return {
    kind: 'ran',
    passed: new Set(isFine ? [wholeCommand] : []),
    failed: new Map(isFine ? [] : [[wholeCommand, `exit code ${ending.code}: ${lastLine(output)}`]]),
    namesTests: false,
  }
}

function lastLine(output: string): string {
  return output.trimEnd().split('\n').at(-1)?.slice(0, 300) ?? ''
}
