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

type Known = { pattern: RegExp; program(given: string, rest: string): Promise<ReportingProgram> }
type ReportingProgram = SandboxedProgram['command']

/** Settings of the environment and another folder, which may stand before a command. */
const before = /^(?:cd\s+[\w./-]+\s*&&\s*)?(?:[A-Za-z_]\w*=[\w./:,@%+-]*\s+)*/

/**
 * Commands whose reports are asked for, so that each test is judged for itself: the command as it was given, with the words that make it
 * write one. For unittest, which writes none, the same tests are run by a program of ours.
 */
const known: readonly Known[] = [
  {
    pattern: /^((?:\S*\/)?pytest|\S*python[\d.]*\s+-m\s+pytest)(?=\s|$)(.*)$/,
    program: async (given, rest) => shell(`${given} --junitxml=${report} -p no:cacheprovider${rest}`),
  },
  {
    pattern: /^(\S*python[\d.]*)\s+-m\s+unittest(?=\s|$)(.*)$/,
    program: async (given, rest) => {
      const isDiscovery = /^(?:\s+discover)?\s*$/.test(rest)
      const [, , code, ...args] = await pythonTests(isDiscovery ? 'unittest' : 'unittest-cli', [], report)
      // The shell has the code as its own name, so that it need not be quoted.
      return ['sh', '-c', `${given} -c "$0" ${args.join(' ')}${isDiscovery ? '' : rest}`, code]
    },
  },
  {
    pattern: /^(node)\s+--test(?=\s|$)(?!.*--test-reporter)(.*)$/,
    program: async (given, rest) => {
      const [, ...options] = nodeTests(report)
      return shell(`${given} ${options.join(' ')}${rest}`)
    },
  },
]

function shell(script: string): ReportingProgram {
  return ['sh', '-c', script]
}

/** What runs the command so that it writes a report; undefined for one whose exit code counts. */
export async function reportingProgram(command: string): Promise<ReportingProgram | undefined> {
  const prefix = before.exec(command)?.[0] ?? ''
  const own = command.slice(prefix.length)
  if (/[;&|<>`$()]/.test(own)) return undefined
  for (const { pattern, program } of known) {
    const found = pattern.exec(own)
    if (found !== null) return program(`${prefix}${found[1] ?? ''}`, found[2] ?? '')
  }
  return undefined
}

/** Runs the command once. TOOL_005 where there is no sandbox. */
export async function runGateCommand(command: string, run: RunProgram): Promise<TestResults> {
  const text = command.trim()
  const reporting = await reportingProgram(text)
  if (reporting === undefined) return byExitCode(await run({ command: shell(text) }))
  const result = await run({ command: reporting, report })
  const cases =
    result.report && !result.isReportCut ? readJunitReport(Buffer.from(result.report).toString()) : undefined
  if (result.ending.kind === 'stopped' || cases === undefined) return byExitCode(result)
  // `node --test` ends well where it finds no test. That is no test that passes: once there is a real one, it would be missing.
  const isEmpty = cases.length === 0 && result.ending.code === 0
  if (isEmpty) return { kind: 'ran', passed: new Set(), failed: new Map(), namesTests: true }
  if (cases.length === 0) return byExitCode(result)
  const ran = cases.filter(({ outcome }) => outcome !== 'skipped')
  const bad = ran.filter(({ outcome }) => outcome !== 'passed')
  const failed = new Map(bad.map(({ name, message = '' }) => [name, message] as const))
  const passed = new Set(ran.flatMap(({ name }) => (failed.has(name) ? [] : name)))
  return { kind: 'ran', passed, failed, namesTests: true }
}

function byExitCode({ ending, output }: ProgramResult): TestResults {
  if (ending.kind === 'stopped') return { kind: 'unusable', reason: `it was stopped by its limit of ${ending.reason}` }
  if (ending.code === 126 || ending.code === 127)
    return { kind: 'unusable', reason: `it does not start with what the sandbox has: ${lastLine(output)}` }
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
