import { composeChangeSets, type KnownSets } from '#change-sets/compose-change-sets.ts'
import type { FileResult } from '#change-sets/changes-at-path.ts'
import { withNeeded } from '#change-sets/independent-groups.ts'
import { type ChangeSet, checkOf, type Evidence } from '#domain/change-set.ts'
import { isTestCheck, type TestCheck } from '#domain/checks.ts'
import { hasCode } from '#domain/error.ts'
import type { Run } from '#domain/run.ts'
import type { ComposedEvidence } from '#store/objects/composition.ts'
import type { SandboxedProgram } from '#sandbox/sandboxed-program.ts'
import type { SnapshotPrograms } from '#stages/operate/tools/programs/attempt-programs.ts'
import { runTests, type TestRunner } from '#stages/operate/tools/programs/run-tests.ts'
import { howItEnded, judgedTests } from '#stages/operate/tools/tests/prove-tests.ts'
import { changedFiles } from './gate/run-gate.ts'

type RunningDeps = {
  programs: SnapshotPrograms
  known: KnownSets
  readBlob(hash: string): Promise<Uint8Array>
  signal: AbortSignal
}

/** Makes the checks that run tests, of a file of tests that several sets make together; undefined where they cannot be run. */
export type RunJoinedTests = (file: FileResult, checks: readonly TestCheck[]) => Promise<ComposedEvidence[] | undefined>

const runners: Readonly<Record<string, Exclude<TestRunner, 'auto'>>> = {
  pytest: 'pytest',
  unittest: 'unittest',
  'node:test': 'node',
  vitest: 'vitest',
}

/** Runs the tests of a file that several sets make, once as usual and once as on another machine: each set's have passed alone. */
export function openJoinedTests(
  { projectId, snapshotId, environment }: Pick<Run, 'projectId' | 'snapshotId' | 'environment'>,
  deps: RunningDeps,
): RunJoinedTests {
  const { programs, known, signal } = deps
  const runIn = async (file: FileResult, snapshot: string) => {
    const { find } = await programs.snapshot(projectId, snapshot)
    const around = await programs.environment(projectId, environment)
    const changes = await changedFiles(composeChangeSets(withNeeded(file.sets, known)).files, {
      isExecutable: (path) => find(path)?.executable ?? false,
      readBlob: deps.readBlob,
    })
    const files = { base: () => programs.archive(projectId, snapshot), ...changes }
    const { limits } = programs
    return (program: Pick<SandboxedProgram, 'command' | 'report' | 'environment'>) =>
      programs.sandbox.run({ ...around, ...program, files, limits }, signal)
  }
  return async (file, checks) => {
    const made = evidenceOf(file, 'tests_collected')
    const [first] = made
    const runner = runners[first?.tool ?? '']
    if (first === undefined || runner === undefined || snapshotId === null) return undefined
    try {
      const run = await runIn(file, snapshotId)
      const order = { runner, paths: [file.path], language: '' }
      const runs = [await runTests(order, run), await runTests({ ...order, isElsewhere: true }, run)]
      const unreported = runs.find(({ cases }) => cases === undefined)
      const { passed, failed } = judgedTests(runs, file.path)
      const durationMs = Math.round(runs.reduce((sum, { result }) => sum + result.durationMs, 0))
      const proof = { passed, failed, durationMs, fault: unreported && howItEnded(unreported), made: first }
      return checks.map((check) => joinedEvidence(check, file, proof))
    } catch (error) {
      if (hasCode(error, 'TOOL_005', 'SETUP_001')) return undefined
      throw error
    }
  }
}

function evidenceOf({ path, sets }: FileResult, check: TestCheck): Evidence[] {
  return sets.flatMap(({ evidence }: ChangeSet) =>
    evidence.filter((proof) => proof.path === path && proof.check === check),
  )
}

type Proof = ReturnType<typeof judgedTests> & { durationMs: number; fault: string | undefined; made: Evidence }

function joinedEvidence(
  check: TestCheck,
  file: FileResult,
  { passed, failed, durationMs, fault, made }: Proof,
): ComposedEvidence {
  const { path } = file
  const { tool, version } = made
  const common = { path, tool, ...(version === undefined ? {} : { version }) }
  const own = evidenceOf(file, check)
  const sumOf = (of: (proof: Evidence) => number | undefined) => own.reduce((sum, proof) => sum + (of(proof) ?? 0), 0)
  if (check === 'tests_kill_mutants') {
    const figures = { before: sumOf(({ before }) => before), after: sumOf(({ after }) => after) }
    const detail = `${figures.after} of ${figures.before} planted faults noticed by the tests of each change alone`
    return { check, ok: own.every(({ ok }) => ok), ...common, ...figures, detail }
  }
  const before = made.before ?? 0
  const wanted = before + own.reduce((sum, proof) => sum + (proof.after ?? 0) - (proof.before ?? 0), 0)
  const now = check === 'tests_pass' ? passed.length : passed.length + failed.length
  const [bad] = failed
  const few = now < wanted ? `${now} of ${wanted} tests ${check === 'tests_pass' ? 'pass' : 'are there'}` : undefined
  const message = check === 'tests_pass' && bad !== undefined ? `${bad.name}: ${bad.message}` : undefined
  const detail = fault ?? message ?? few
  const says = detail ?? (check === 'tests_pass' ? 'all together, in 2 of 2 runs' : undefined)
  return {
    check,
    ok: detail === undefined,
    ...common,
    before,
    after: now,
    durationMs,
    ...(says === undefined ? {} : { detail: says }),
  }
}

/** Returns the checks that run tests which the sets of a file have, or have asked for. */
export function testChecksOf({ path, sets }: FileResult): TestCheck[] {
  const own = sets.flatMap(({ evidence }) => evidence.filter((proof) => proof.path === path))
  return [...new Set(own.map(checkOf).filter(isTestCheck))]
}
