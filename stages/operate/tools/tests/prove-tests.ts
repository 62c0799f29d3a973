import { isDeepStrictEqual } from 'node:util'
import type { Evidence } from '#domain/change-set.ts'
import type { TestCheck } from '#domain/checks.ts'
import { unreachable } from '#domain/error.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import { notChecked, type SyntaxChecker } from '../../evidence/syntax-evidence.ts'
import { unlessRefused, type Workspace } from '../../workspace/open-workspace.ts'
import type { AttemptPrograms, ProgramOptions } from '../programs/attempt-programs.ts'
import type { TestCase } from '../programs/junit-report.ts'
import { runTests, type TestRun } from '../programs/run-tests.ts'
import { clip } from '../shorten.ts'
import type { TargetNode } from '../target-node.ts'
import { findRunner, type FoundRunner } from './find-runner.ts'
import { isTestFile } from './find-tests.ts'
import { endingText, survivorsOf, type TriedMutants, tryMutants } from './try-mutants.ts'

export type TestProof = TriedMutants & {
  path: string
  used: FoundRunner
  runs: number
  passed: string[]
  failed: { name: string; message: string }[]
  /** The tests that the file had before, and those of them that passed in every run: none for a new file. */
  before: { collected: string[]; passed: string[] }
  unreported: string | undefined
  runsMs: number
}

export type TestProofs = {
  /** Finds what tests of this language are run with. TOOL_005 where there is no such program, or no sandbox. */
  runner(language: string, signal: AbortSignal): Promise<FoundRunner>
  /** Runs the tests in a file; as long as nothing more is written, it returns what it found before. Throws as `runner` does. */
  prove(path: string, signal: AbortSignal): Promise<TestProof>
  /** The evidence of the named checks on the files with tests among `paths`; `not_checked` for each when there are none. */
  evidence(paths: readonly string[], checks: readonly TestCheck[], signal: AbortSignal): Promise<Evidence[]>
}

type Proving = {
  limits: { runs: number; mutants: number }
  target: Pick<TargetNode, 'node' | 'locate'>
  workspace: Pick<Workspace, 'written' | 'readBase' | 'exists' | 'list' | 'readText'>
  programs(signal: AbortSignal): AttemptPrograms
}

type ProvingDeps = { syntax: Pick<SyntaxChecker, 'mutants'> }

/** Proves the tests of an attempt, each state of its files once. */
export function openTestProofs(proving: Proving, deps: ProvingDeps): TestProofs {
  const { workspace, target, programs } = proving
  const runners = new Map<string, FoundRunner>()
  let last: { written: ReturnType<Workspace['written']>; proofs: Map<string, TestProof> } | undefined
  const runner: TestProofs['runner'] = async (language, signal) => {
    const { run } = programs(signal)
    const found = runners.get(language) ?? (await findRunner(language, target.node.path, { workspace, run }))
    runners.set(language, found)
    return found
  }
  const prove: TestProofs['prove'] = async (path, signal) => {
    const written = workspace.written()
    if (last === undefined || !isDeepStrictEqual(written, last.written)) last = { written, proofs: new Map() }
    const { proofs } = last
    const used = await runner(languageOf(path) ?? '', signal)
    const proof = proofs.get(path) ?? (await proofOf(path, used, proving, deps, signal))
    proofs.set(path, proof)
    return proof
  }
  return {
    runner,
    prove,
    async evidence(paths, checks, signal) {
      // A file that was deleted has lost its tests.
      const tests = paths.filter(isTestFile)
      const [first = target.node.path] = paths
      if (tests.length === 0) return checks.map((of) => notChecked(of, first, 'no file with tests was changed'))
      const evidence: Evidence[] = []
      for (const path of checks.length === 0 ? [] : tests) {
        const proof = await prove(path, signal)
        evidence.push(...checks.map((check) => evidenceOf(check, proof)))
      }
      return evidence
    },
  }
}

async function proofOf(
  path: string,
  used: FoundRunner,
  proving: Proving,
  deps: ProvingDeps,
  signal: AbortSignal,
): Promise<TestProof> {
  const { limits, target, workspace } = proving
  const { run } = proving.programs(signal)
  const { runner } = used
  const runOnce = (options: ProgramOptions = {}, isElsewhere = false) =>
    runTests({ runner, paths: [path], language: '', isElsewhere }, (program) => run(program, options))
  const own = await runOften(limits.runs, (isElsewhere) => runOnce({}, isElsewhere))
  const base = await unlessRefused(workspace.readBase(path))
  const asBefore = { instead: new Map([[path, base ?? '']]) }
  const before = base === undefined ? [] : await runOften(limits.runs, (isElsewhere) => runOnce(asBefore, isElsewhere))
  const { passed, failed } = judgedTests(own, path)
  const was = judgedTests(before, path)
  const wasFailed = was.failed.map(({ name }) => name).filter((name) => !isFileItself(name, path))
  const others = new Set([...was.passed, ...was.failed.map(({ name }) => name)])
  const slowestMs = Math.max(...own.map(({ result }) => result.durationMs))
  const tried =
    failed.length === 0 && passed.length > 0
      ? await tryMutants({ target, syntax: deps.syntax, most: limits.mutants, slowestMs, runOnce, others })
      : { mutants: [], unjudged: [], mutantsMs: 0 }
  const unreported = own.find(({ cases }) => cases === undefined)
  return {
    path,
    used,
    runs: limits.runs,
    passed,
    failed,
    before: { collected: [...was.passed, ...wasFailed], passed: was.passed },
    unreported: unreported && howItEnded(unreported),
    ...tried,
    runsMs: Math.round([...own, ...before].reduce((all, { result }) => all + result.durationMs, 0)),
  }
}

/** The last one is as on another machine, so a single one is, too. */
async function runOften(times: number, runOnce: (isElsewhere: boolean) => Promise<TestRun>): Promise<TestRun[]> {
  const runs: TestRun[] = []
  while (runs.length < times) {
    const run = await runOnce(runs.length === times - 1)
    runs.push(run)
    if (run.cases === undefined) break
  }
  return runs
}

/** Judges by all runs: a test passes when it passed in each. One always skipped counts as none, as does a file without tests (node:test reports it). */
export function judgedTests(runs: readonly TestRun[], path: string): Pick<TestProof, 'passed' | 'failed'> {
  const names = new Set(runs.flatMap(({ cases = [] }) => cases.map(({ name }) => name)))
  const found: Pick<TestProof, 'passed' | 'failed'> = { passed: [], failed: [] }
  for (const name of names) {
    const cases = runs.map((run) => run.cases?.find((one) => one.name === name))
    if (cases.every((one) => one?.outcome === 'skipped')) continue
    const times = cases.filter((one) => one?.outcome === 'passed').length
    if (times < runs.length) found.failed.push({ name, message: failureText(cases, times) })
    else if (!isFileItself(name, path)) found.passed.push(name)
  }
  return found
}

/** Says whether a name of a report is that of the file, under which runners report one that cannot be loaded. */
function isFileItself(name: string, path: string): boolean {
  const last = name.split('::').at(-1) ?? ''
  const module = path.replace(/\.py$/, '').replaceAll('/', '.')
  return (
    last === path || last.endsWith(`/${path}`) || name === module || name.startsWith('unittest.loader._FailedTest::')
  )
}

const maxMessage = 1_000
const maxFailure = 500

function failureText(cases: readonly (TestCase | undefined)[], times: number): string {
  const message = cases.find((one) => one?.message !== undefined)?.message ?? 'it did not run to its end'
  const isBound = times === cases.length - 1 && cases.at(-1)?.outcome !== 'passed'
  const where = isBound ? ' (not under another locale, time zone, hash seed and order)' : ''
  const flips = times === 0 ? '' : `it passed in only ${times} of ${cases.length} runs${where}: `
  return clip(`${flips}${message}`, maxFailure)
}

export function howItEnded(run: TestRun): string {
  return clip(`${endingText(run)}: ${run.result.output.trim().slice(-maxMessage)}`, maxMessage)
}

function evidenceOf(check: TestCheck, proof: TestProof): Evidence {
  const { path, used, passed, failed, before, unreported, mutants, unjudged, runs, runsMs, mutantsMs } = proof
  const { tool, version } = used
  const collected = [...passed, ...failed.map(({ name }) => name)]
  const said = unreported ?? failed.map(({ name, message }) => `${name}: ${message}`)[0]
  switch (check) {
    case 'tests_collected': {
      const detail = unreported ?? goneText(before.collected, collected, 'no longer there')
      const isOk = collected.length > 0 && detail === undefined
      const figures = { before: before.collected.length, after: collected.length, durationMs: runsMs }
      return { check, path, ok: isOk, tool, version, ...figures, ...(detail !== undefined && { detail }) }
    }
    case 'tests_pass': {
      const fault =
        said ??
        (passed.length === 0 ? 'there is no test' : goneText(before.passed, passed, 'passed before and does not now'))
      const figures = { before: before.passed.length, after: passed.length, durationMs: runsMs }
      const detail = fault ?? `each in ${runs} of ${runs} runs`
      return { check, path, ok: fault === undefined, tool, version, ...figures, detail }
    }
    case 'tests_kill_mutants': {
      if (passed.length === 0 || failed.length > 0)
        return { check, path, ok: false, tool, version, detail: 'the tests do not pass without mutants' }
      if (mutants.length + unjudged.length === 0)
        return notChecked(check, path, 'nothing in the node can be changed so that it means something else')
      const killed = mutants.filter(({ isKilled: is }) => is).length
      const figures = { before: mutants.length, after: killed, durationMs: mutantsMs }
      const survivors = survivorsOf(proof).map((one) => `; not noticed: ${one}`)
      const silent = unjudged.map((one) => `; not judged: ${one}`)
      const noticed = `${killed} of ${mutants.length} planted faults noticed`
      const detail = clip(`${noticed}${[...survivors, ...silent].join('')}`, maxMessage)
      return { check, path, ok: killed > 0, tool, version, ...figures, detail }
    }
    default:
      return unreachable(check)
  }
}

function goneText(before: readonly string[], now: readonly string[], what: string): string | undefined {
  const gone = before.filter((name) => !now.includes(name))
  return gone.length === 0 ? undefined : clip(`${what}: ${gone.join(', ')}`, maxMessage)
}
