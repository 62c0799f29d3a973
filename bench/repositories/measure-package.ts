import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BenchPackage } from './bench-packages.ts'
import { type CheckedTree, checkTree, runTests, TreeChecks } from './check-tree.ts'
import {
  compareChecks,
  type Comparison,
  type Coverage,
  coverDocstrings,
  coverFaults,
  foreignFiles,
  judgeLost,
  lostComments,
  lostTests,
} from './compare-states.ts'
import { type Hunk, readHunks } from './sample.ts'
import { type PreparedPackage, preparePackage, shortHash } from './prepare-package.ts'
import { readRefusedRules } from './safe-rules/candidate-rules.ts'
import { type RunFigures, runRemora } from './run-remora.ts'
import { type BothSides, readSources } from './source-facts.ts'

export type MeasuredPackage = {
  one: BenchPackage
  run: RunFigures
  before: TreeChecks
  after: TreeChecks
  hunks: readonly Hunk[]
  comparison: Comparison
}

/** Part of the cache's key: when one of these files changes, every tree is checked anew. */
const checkSources = ['check-tree.ts', 'diagnostics.ts', 'run-command.ts', 'pytest-plugin/remora_outcomes.py']

/**
 * Checks a package as it is, runs `remora run` over it and checks what its patch makes of it. States that the
 * cache has are not checked again: the package itself, and a patch that is the same as one before.
 */
export async function measurePackage(one: BenchPackage, cache: string): Promise<MeasuredPackage> {
  const prepared = await preparePackage(one, cache)
  const before = await checksBefore(one, prepared)
  const tree = join(prepared.work, 'after')
  console.log(`${one.name}: remora run`)
  const run = await runRemora(prepared.tree, tree, prepared.work)
  const sides = {
    before: await readSources(prepared.tree, prepared.python),
    after: await readSources(tree, prepared.python),
  }
  const patch = await readFile(join(prepared.work, 'remora/proposed.patch'), 'utf8').catch(() => '')
  const hunks = readHunks(patch, sides)
  const after = patch === '' ? before : await checksOf({ one, prepared, tree }, [patch])
  const { worse, flaky } = await retryLost({ one, prepared, tree }, lostTests(before, after))
  const changed = [...new Set(hunks.map(({ file }) => file))]
  const comparison = {
    worseTests: worse,
    flakyTests: flaky,
    ...compareChecks(before, after),
    ...compareSources(sides, changed),
    safeFaults: coverFaults({ before, after }, sides.before, await readRefusedRules()),
  }
  return { one, run, before, after, hunks, comparison }
}

/** The state of the sdist. */
export async function checksBefore(one: BenchPackage, prepared: PreparedPackage): Promise<TreeChecks> {
  const tree = join(prepared.work, 'before')
  await rm(tree, { recursive: true, force: true })
  await cp(prepared.tree, tree, { recursive: true, verbatimSymlinks: true })
  return checksOf({ one, prepared, tree }, [])
}

function compareSources(sides: BothSides, changed: readonly string[]) {
  return {
    lostComments: lostComments(sides),
    foreignFiles: foreignFiles(changed, sides.before),
    docstrings: coverDocstrings(sides),
  }
}

async function checksOf(checked: CheckedTree, state: readonly string[]): Promise<TreeChecks> {
  const { one, prepared } = checked
  const sources = await Promise.all(checkSources.map((name) => readFile(new URL(name, import.meta.url), 'utf8')))
  const key = shortHash([prepared.key, JSON.stringify(one), ...sources, ...state])
  const folder = join(prepared.work, 'checks')
  const file = join(folder, `${key}.json`)
  const kept = await readFile(file, 'utf8').catch(() => undefined)
  if (kept !== undefined) return TreeChecks.parse(JSON.parse(kept))
  console.log(`${one.name}: checks ${checked.tree}`)
  const checks = await checkTree(checked)
  await mkdir(folder, { recursive: true })
  await writeFile(file, JSON.stringify(checks, null, 1))
  return checks
}

/** Runs lost tests once more, alone, on a copy of the sdist and on the changed tree. */
export async function retryLost(
  changed: CheckedTree,
  lost: readonly string[],
): Promise<{ worse: string[]; flaky: string[] }> {
  if (lost.length === 0) return { worse: [], flaky: [] }
  const { one, prepared } = changed
  const only = join(prepared.work, 'tests-again.jsonl')
  await writeFile(only, lost.map((id) => `${JSON.stringify(id)}\n`).join(''))
  const before = await runTests({ one, prepared, tree: join(prepared.work, 'before') }, only)
  return judgeLost(lost, before, await runTests(changed, only))
}

/** The least share of what could be done that must be done, over all packages together. */
const leastCoverage = 0.8

/** One sentence for each kind of change that a maintainer would not merge. */
export function findHarm({ run, comparison, after }: MeasuredPackage): string[] {
  const { worseTests, newLint, newTypes } = comparison
  const some = (count: number, what: string) => (count === 0 ? [] : [`${count} ${what}`])
  return [
    ...(run.exitCode === 0 ? [] : [`remora run ended with exit code ${run.exitCode}`]),
    ...(run.patchApplies ? [] : ['the patch does not apply']),
    ...(after.testsLate ? ['the tests do not end any more'] : []),
    ...some(worseTests.length, 'tests passed before and do not now'),
    ...some(newLint.length, 'new findings of its linter'),
    ...some(newTypes.length, 'new errors of its type checker'),
    ...some(comparison.lostComments.length, 'comments lost'),
    ...some(comparison.foreignFiles.length, 'files changed that are vendored, generated or migrations'),
  ]
}

/** What all packages together leave undone, in a sentence; nothing where enough is done. */
export function findIdleness(measured: readonly MeasuredPackage[]): string[] {
  const parts = [
    ['faults with a safe fix', sumCoverage(measured.map(({ comparison }) => comparison.safeFaults))],
    ['public definitions without a docstring', sumCoverage(measured.map(({ comparison }) => comparison.docstrings))],
  ] as const
  return parts.flatMap(([what, { possible, done }]) =>
    done >= leastCoverage * possible ? [] : [`only ${done} of ${possible} ${what} were changed`],
  )
}

export function sumCoverage(all: readonly Coverage[]): Coverage {
  const sum: Coverage = { possible: 0, done: 0, rest: {} }
  for (const { possible, done, rest } of all) {
    sum.possible += possible
    sum.done += done
    for (const [reason, count] of Object.entries(rest)) sum.rest[reason] = (sum.rest[reason] ?? 0) + count
  }
  return sum
}
