import type { BenchPackage } from './bench-packages.ts'
import type { TreeChecks } from './check-tree.ts'
import { newDiagnostics, type Diagnostic } from './diagnostics.ts'
import { type BothSides, foreignReason, isPublicModule, type SourceFacts } from './source-facts.ts'

/** How much of what could be done was done, and why the rest was not. */
export type Coverage = { possible: number; done: number; rest: Record<string, number> }

export type Comparison = {
  /** Tests that passed before and no longer do, retried alone on both trees. */
  worseTests: string[]
  /** Tests that did not pass the first time, and that the retry shows to be flaky. */
  flakyTests: string[]
  newLint: Diagnostic[]
  newTypes: Diagnostic[]
  lostComments: { file: string; text: string }[]
  /** Files that no agent should have touched, with the reason. */
  foreignFiles: string[]
  safeFaults: Coverage
  docstrings: Coverage
}

/** Tests that passed before and do not now; what is no longer there does not pass. */
export function lostTests(before: Pick<TreeChecks, 'passed'>, after: Pick<TreeChecks, 'passed'>): string[] {
  const passing = new Set(after.passed)
  return before.passed.filter((id) => !passing.has(id))
}

type Again = Pick<TreeChecks, 'passed' | 'failed'>

/** A lost test is flaky if it passes after all, or was seen to fail alone on the tree without changes. */
export function judgeLost(lost: readonly string[], before: Again, after: Again): { worse: string[]; flaky: string[] } {
  const isFlaky = (id: string) => after.passed.includes(id) || before.failed.includes(id)
  return { worse: lost.filter((id) => !isFlaky(id)), flaky: lost.filter(isFlaky) }
}

export function compareChecks(before: TreeChecks, after: TreeChecks): Pick<Comparison, 'newLint' | 'newTypes'> {
  return { newLint: newDiagnostics(before.lint, after.lint), newTypes: newDiagnostics(before.types, after.types) }
}

/** Comments that occur less often in `after`. Comments that Ruff's own rules call unused may be removed: an unused `noqa`, a coding line. */
export function lostComments({ before, after }: BothSides): Comparison['lostComments'] {
  return [...before].flatMap(([file, { comments }]) => {
    const left = new Map<string, number>()
    for (const { text } of after.get(file)?.comments ?? []) left.set(text, (left.get(text) ?? 0) + 1)
    return (comments ?? []).flatMap(({ text }) => {
      const count = left.get(text) ?? 0
      left.set(text, count - 1)
      return count > 0 || mayGo.test(text) ? [] : [{ file, text }]
    })
  })
}

const mayGo = /^#\s*(?:noqa\b|-\*-\s*coding|coding[:=]|vim:.*fileencoding)/i

/**
 * How many of the safe fixes that the repository's own rules ask for were made. Fixes in foreign files and of rules that are
 * `refused` are not asked for.
 */
export function coverFaults(
  { before, after }: { before: TreeChecks; after: TreeChecks },
  facts: ReadonlyMap<string, SourceFacts>,
  refused: ReadonlySet<string>,
): Coverage {
  const asked = before.safeFaults.filter(({ file, rule }) => {
    const source = facts.get(file)
    return !refused.has(rule) && (source === undefined || foreignReason(source) === undefined)
  })
  // Requested fixes that were not made: all requested minus those that count as new when the sides are exchanged.
  const gone = newDiagnostics(after.safeFaults, asked)
  const goneOnes = new Set(gone)
  const rest = countBy(asked.filter((one) => !goneOnes.has(one)).map(({ rule }) => rule))
  return { possible: asked.length, done: gone.length, rest }
}

/** Public definitions of public modules without a docstring: those that have one now. */
export function coverDocstrings({ before, after }: BothSides): Coverage {
  const rest: string[] = []
  let possible = 0
  for (const [path, facts] of before) {
    if (!isPublicModule(facts)) continue
    const later = after.get(path)?.definitions ?? []
    const documented = new Set(later.flatMap(({ name, docstring }) => (docstring === null ? [] : [name])))
    const asked = (facts.definitions ?? []).filter(({ docstring, apart }) => docstring === null && apart === null)
    possible += asked.length
    rest.push(...asked.filter(({ name }) => !documented.has(name)).map(({ kind }) => kind))
  }
  return { possible, done: possible - rest.length, rest: countBy(rest) }
}

export function foreignFiles(changed: readonly string[], facts: ReadonlyMap<string, SourceFacts>): string[] {
  return changed.flatMap((path) => {
    const source = facts.get(path)
    const reason = source === undefined ? undefined : foreignReason(source)
    return reason === undefined ? [] : [`${path} (${reason})`]
  })
}

function countBy(words: readonly string[]): Record<string, number> {
  const groups = Map.groupBy(words, (word) => word)
  const counts = Array.from(groups, ([word, all]): [string, number] => [word, all.length])
  return Object.fromEntries(counts.toSorted(([, one], [, other]) => other - one))
}

/** The linter's name as the table shows it. */
export function linterName({ linter }: BenchPackage): string {
  return linter.tool === 'none' ? 'none of its own' : linter.tool
}
