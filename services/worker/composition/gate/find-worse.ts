import type { ChangeSet } from '#domain/change-set.ts'
import { neededFirst } from '#composition/independent-groups.ts'
import type { TestResults } from './gate-command.ts'

/** Runs the tests on the snapshot with these sets; undefined when no more runs may be made. */
export type TestWith = (sets: readonly ChangeSet[]) => Promise<TestResults | undefined>

/** A set that was left out: the tests that fail with it and pass without it, or none, when it is only unproved. */
export type Convicted = { set: ChangeSet; tests: readonly string[]; message: string }

export type Judged = {
  left: readonly ChangeSet[]
  convicted: readonly Convicted[]
  /** Whether it came to its end within the runs that it may make. */
  isComplete: boolean
}

/**
 * The sets with which all of `mustPass` passes. While a test fails that must pass, the set is found by halving with which it fails and
 * without which, with those before it alone, nothing does; that one is left out with those that are built on it. When no more runs may
 * be made, the sets that are not known to pass are left out.
 */
export async function findWorse(
  sets: readonly ChangeSet[],
  mustPass: ReadonlySet<string>,
  test: TestWith,
): Promise<Judged> {
  let left = neededFirst(sets)
  const convicted: Convicted[] = []
  /** With so many of the sets everything passes. */
  let passing = 0
  for (;;) {
    const all = await failingWith(left, mustPass, test)
    if (all === undefined) return unproved(left, passing, convicted)
    if (all.size === 0) return { left, convicted, isComplete: true }
    let [failing, failures] = [left.length, all]
    if (passing >= failing) passing = 0 // a test that passed before does not always
    while (failing - passing > 1) {
      const middle = (passing + failing) >> 1
      const found = await failingWith(left.slice(0, middle), mustPass, test)
      if (found === undefined) return unproved(left, passing, convicted)
      if (found.size === 0) passing = middle
      else [failing, failures] = [middle, found]
    }
    const culprit = left[failing - 1]
    if (culprit === undefined) return { left, convicted, isComplete: true }
    convicted.push({ set: culprit, tests: [...failures.keys()], message: failures.values().next().value ?? '' })
    left = left.filter((set) => set !== culprit && !(set.builtOn ?? []).includes(culprit.changeSetId))
  }
}

/** The tests that fail and must pass, on each of two runs: one that fails once may do so by itself. */
async function failingWith(
  sets: readonly ChangeSet[],
  mustPass: ReadonlySet<string>,
  test: TestWith,
): Promise<ReadonlyMap<string, string> | undefined> {
  if (sets.length === 0) return new Map()
  const first = await failuresOf(sets, mustPass, test)
  if (first === undefined || first.size === 0) return first
  const second = await failuresOf(sets, mustPass, test)
  return second && new Map([...first].filter(([name]) => second.has(name)))
}

/** Also tests that did not run: a change may keep them from being collected. */
async function failuresOf(sets: readonly ChangeSet[], mustPass: ReadonlySet<string>, test: TestWith) {
  const results = await test(sets)
  if (results === undefined) return undefined
  if (results.kind === 'unusable') return new Map([...mustPass].map((name) => [name, results.reason] as const))
  const missing = [...mustPass].filter((name) => !results.passed.has(name))
  return new Map(missing.map((name) => [name, results.failed.get(name) ?? 'it did not run'] as const))
}

function unproved(left: readonly ChangeSet[], passing: number, convicted: readonly Convicted[]): Judged {
  const rest = left.slice(passing).map((set) => ({ set, tests: [], message: '' }))
  return { left: left.slice(0, passing), convicted: [...convicted, ...rest], isComplete: false }
}
