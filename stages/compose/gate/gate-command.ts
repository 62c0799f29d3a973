import { settingsBefore } from '#domain/gate.ts'
import { type ProgramResult, type SandboxedProgram, workFolder } from '#sandbox/sandboxed-program.ts'
import { readTestReport } from '#stages/operate/tools/programs/junit-report.ts'
import { nodeTests, pythonTests } from '#stages/operate/tools/programs/run-tests.ts'
import { causeIn } from './cause-in.ts'

/** Says what one run of the gate's command shows: the tests that passed, and those that did not with what was said of them. */
export type TestResults =
  | { kind: 'ran'; passed: ReadonlySet<string>; failed: ReadonlyMap<string, string>; namesTests: boolean }
  | { kind: 'unusable'; reason: string }

export type RunProgram = (program: Pick<SandboxedProgram, 'command' | 'report'>) => Promise<ProgramResult>

const report = '/tmp/remora-gate.xml'
/** Stands for the command where it names no tests. */
const wholeCommand = 'the command'

/** `nameOf`: a test as it may be pasted after the runner, from its name in the report. */
type Known = {
  pattern: RegExp
  program(given: string, rest: string): Promise<SandboxedProgram['command']>
  nameOf?(name: string): string
}
type ReportingProgram = { command: SandboxedProgram['command']; nameOf(name: string): string }

/** Commands that can write a report, so that each test is judged for itself. For unittest a program of ours runs the same tests. */
const known: readonly Known[] = [
  {
    pattern: /^((?:\S*\/)?pytest|\S*python[\d.]*\s+-m\s+pytest)(?=\s|$)(.*)$/,
    program: async (given, rest) =>
      // The older form of its report has the files of tests.
      shell(`${given} --junitxml=${report} -o junit_family=xunit1 -p no:cacheprovider${rest}`),
  },
  {
    pattern: /^(\S*python[\d.]*)\s+-m\s+unittest(?=\s|$)(.*)$/,
    program: async (given, rest) => {
      const isDiscovery = /^(?:\s+discover)?\s*$/.test(rest)
      const [, , code, ...args] = await pythonTests(isDiscovery ? 'unittest' : 'unittest-cli', [], report)
      // The shell has the code as its own name, so that it need not be quoted.
      return ['sh', '-c', `${given} -c "$0" ${args.join(' ')}${isDiscovery ? '' : rest}`, code]
    },
    nameOf: (name) => inShell(name.replaceAll('::', '.')),
  },
  {
    pattern: /^(node)\s+--test(?=\s|$)(?!.*--test-reporter)(.*)$/,
    program: async (given, rest) => {
      const [, ...options] = nodeTests(report)
      return shell(`${given} ${options.join(' ')}${rest}`)
    },
    nameOf: nodePattern,
  },
]

/** Makes `--test-name-pattern='^suite test$' a.test.js`; of what is no test, the file. */
function nodePattern(name: string): string {
  const [root, number] = numbered(name)
  const [file = '', ...titles] = root.replaceAll(`${workFolder}/`, '').split('::')
  if (titles.length === 0 || titles.at(-1) === file) return `${quoted(file)}${number}`
  const pattern = `^${titles.join(' ').replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)}$`
  return `--test-name-pattern=${quoted(pattern)} ${quoted(file)}${number}`
}

/** A repository names its tests and files as it likes: `$(…)` in such a name is not to be run by whoever pastes it. */
function inShell(name: string): string {
  const [root, number] = numbered(name)
  return `${quoted(root)}${number}`
}

/** The number that a report's reader gives to those of one name is no part of it. */
function numbered(name: string): [name: string, number: string] {
  const [, root = '', number = ''] = /^(.*?)( #\d+)?$/s.exec(name) ?? []
  return [root, number]
}

function quoted(word: string): string {
  return /^[\w./:][\w./:-]*$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

function shell(script: string): SandboxedProgram['command'] {
  return ['sh', '-c', script]
}

/** Returns what runs the command so that it writes a report, and how it names a test; undefined where the exit code counts. */
export async function reportingProgram(command: string): Promise<ReportingProgram | undefined> {
  const prefix = settingsBefore.exec(command)?.[0] ?? ''
  const own = command.slice(prefix.length)
  if (/[;&|<>`$()]/.test(own)) return undefined
  for (const { pattern, program, nameOf = inShell } of known) {
    const match = pattern.exec(own)
    if (match !== null) return { command: await program(`${prefix}${match[1] ?? ''}`, match[2] ?? ''), nameOf }
  }
  return undefined
}

/** Runs the command once. TOOL_005 where there is no sandbox. */
export async function runGateCommand(command: string, run: RunProgram): Promise<TestResults> {
  const text = command.trim()
  const reporting = await reportingProgram(text)
  if (reporting === undefined) return byExitCode(await run({ command: shell(text) }))
  const result = await run({ command: reporting.command, report })
  const cases = await readTestReport(result)
  if (result.ending.kind === 'stopped' || cases === undefined) return byExitCode(result)
  // `node --test` ends well where it finds no test. That is no test that passes: once there is a real one, it would be missing.
  const isEmpty = cases.length === 0 && result.ending.code === 0
  if (isEmpty) return { kind: 'ran', passed: new Set(), failed: new Map(), namesTests: true }
  if (cases.length === 0) return byExitCode(result)
  const named = cases.map((outcome) => ({ ...outcome, name: reporting.nameOf(outcome.name) }))
  const ran = named.filter(({ outcome }) => outcome !== 'skipped')
  const bad = ran.filter(({ outcome }) => outcome !== 'passed')
  const failed = new Map(bad.map(({ name, message = '' }) => [name, message] as const))
  const passed = new Set(ran.flatMap(({ name }) => (failed.has(name) ? [] : name)))
  return { kind: 'ran', passed, failed, namesTests: true }
}

function byExitCode({ ending, output }: ProgramResult): TestResults {
  if (ending.kind === 'stopped') return { kind: 'unusable', reason: `it was stopped by its limit of ${ending.reason}` }
  if (ending.code === 126 || ending.code === 127)
    return { kind: 'unusable', reason: `${causeIn(output)}: it does not start with what the sandbox has` }
  const isFine = ending.code === 0
  return {
    kind: 'ran',
    passed: new Set(isFine ? [wholeCommand] : []),
    failed: new Map(isFine ? [] : [[wholeCommand, `${causeIn(output)} (exit code ${ending.code})`]]),
    namesTests: false,
  }
}
