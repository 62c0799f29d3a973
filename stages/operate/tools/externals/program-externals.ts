import { parseRepoPath } from '#domain/repo-path.ts'
import type { ProgramResult } from '#sandbox/sandboxed-program.ts'
import { type ExternalFunction, ScriptError } from '#tool-scripts/script-call.ts'
import type { AttemptPrograms } from '../programs/attempt-programs.ts'
import type { TestCase } from '../programs/junit-report.ts'
import { runTests, type TestRunner, testRunners } from '../programs/run-tests.ts'
import { clip } from '../shorten.ts'
import type { TargetNode } from '../target-node.ts'
import { text, textList } from './external-arguments.ts'

const maxOutput = 8_000
const maxArguments = 100
const maxShownCases = 20

/** `run_command` and `run_tests`, in the sandbox. What a program ends with is an answer; only a missing sandbox is a fault. */
export function programExternals(target: Pick<TargetNode, 'node'>, { allowed, run }: AttemptPrograms) {
  return {
    async run_command([command, timeout]) {
      const [program, ...args] = textList(command, 'command')
      if (program === undefined) throw new ScriptError('ValueError', 'command is empty')
      if (!allowed.includes(program)) {
        const known = allowed.length === 0 ? 'this agent may run none' : `this agent may run ${allowed.join(', ')}`
        throw new ScriptError('PermissionError', `${program} is not allowed: ${known}`)
      }
      if (args.length > maxArguments || [program, ...args].some((arg) => arg.includes('\0')))
        throw new ScriptError('ValueError', `a command has at most ${maxArguments} arguments, and no NUL in them`)
      return shownResult(await run({ command: [program, ...args] }, { wallMs: millisecondsOf(timeout) }))
    },
    async run_tests([paths, runner]) {
      const wanted = runnerNamed(runner)
      const named = textList(paths ?? [], 'paths').map((path) => parseRepoPath(path, 'TOOL_007'))
      const language = wanted === 'auto' ? target.node.language : ''
      const ran = await runTests({ runner: wanted, paths: named, language }, (program) => run(program))
      return { runner: ran.runner, ...shownResult(ran.result), ...figuresOf(ran.cases) }
    },
  } satisfies Record<string, ExternalFunction>
}

function millisecondsOf(seconds: unknown): number | undefined {
  if (seconds === undefined || seconds === null) return undefined
  if (typeof seconds === 'number' && seconds > 0) return seconds * 1_000
  throw new ScriptError('ValueError', 'timeout_s must be a number above 0')
}

function runnerNamed(name: unknown): TestRunner {
  if (name === undefined || name === null) return 'auto'
  const known = testRunners.find((runner) => runner === name)
  if (known !== undefined) return known
  throw new ScriptError('ValueError', `runner must be one of ${testRunners.join(', ')}, got: ${text(name, 'runner')}`)
}

export function shownResult({ ending, output, cutBytes, durationMs }: ProgramResult) {
  return {
    exit_code: ending.kind === 'exited' ? ending.code : null,
    stopped_by: ending.kind === 'stopped' ? ending.reason : null,
    output: clip(output, maxOutput),
    cut_bytes: cutBytes,
    seconds: durationMs / 1_000,
  }
}

function figuresOf(cases: readonly TestCase[] | undefined) {
  if (cases === undefined) return { tests: null }
  const count = (outcome: TestCase['outcome']) => cases.filter((testCase) => testCase.outcome === outcome).length
  const bad = cases.filter(({ outcome }) => outcome === 'failed' || outcome === 'error')
  return {
    tests: cases.length,
    passed: count('passed'),
    failed: count('failed'),
    errors: count('error'),
    skipped: count('skipped'),
    failures: bad.slice(0, maxShownCases).map(({ name, message = '' }) => ({ name, message })),
  }
}
