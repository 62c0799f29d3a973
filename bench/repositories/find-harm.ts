import type { Coverage } from './compare-states.ts'
import type { MeasuredPackage } from './measure-package.ts'

/** The least share of what could be done that must be done, over all packages together. */
const leastCoverage = 0.8

/** One sentence for each thing that a maintainer would not merge. */
export function findHarm({ run, comparison, after }: MeasuredPackage): string[] {
  const { worseTests, newLint, newTypes, lostComments, foreignFiles } = comparison
  const some = (count: number, what: string) => (count === 0 ? [] : [`${count} ${what}`])
  return [
    ...(run.exitCode === 0 ? [] : [`remora run ended with exit code ${run.exitCode}`]),
    ...(run.patchApplies ? [] : ['the patch does not apply']),
    ...(after.testsLate ? ['the tests do not end any more'] : []),
    ...some(worseTests.length, 'tests passed before and do not now'),
    ...some(newLint.length, 'new findings of its linter'),
    ...some(newTypes.length, 'new errors of its type checker'),
    ...some(lostComments.length, 'comments lost'),
    ...some(foreignFiles.length, 'files changed that are vendored, generated or migrations'),
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
