import type { ChangeSet } from '#domain/change-set.ts'
import { neededFirst } from '#composition/independent-groups.ts'
import type { TestResults } from './gate-command.ts'

/** Runs the tests on the snapshot with these sets; undefined when no more runs may be made. */
export type TestWith = (sets: readonly ChangeSet[]) => Promise<TestResults | undefined>

/**
 * A set that was left out: the tests that fail with it and pass without it, or none, when it is only unproved. `byItself`: they fail
 * also when it is there without others but those that it is built on.
 */
export type Convicted = { set: ChangeSet; tests: readonly string[]; message: string; byItself: boolean }

export type Judged = {
  left: readonly ChangeSet[]
  convicted: readonly Convicted[]
  /** What had to pass at the end; nothing when the snapshot itself passes no more, and then `left` is not proved. */
  mustPass: ReadonlySet<string>
  /** It came to its end within the runs that it may make. */
  isComplete: boolean
}

type Failures = ReadonlyMap<string, string>

/**
 * The sets with which all of `mustPass` passes. While a test fails that must pass, the set is found by halving with which it fails and
 * without which, with those before it alone, nothing does; that one is left out with those that are built on it. Before the first of all
 * sets is convicted the snapshot is tested again: what fails there by now convicts nobody. When no more runs may be made, the sets that
 * are not known to pass are left out.
 */
export async function findWorse(
  sets: readonly ChangeSet[],
  mustPass: ReadonlySet<string>,
  test: TestWith,
): Promise<Judged> {
  let left = neededFirst(sets)
  let wanted = mustPass
  const convicted: Convicted[] = []
  /** With so many of the sets everything passes. */
  let passing = 0
  for (;;) {
    const all = await failingWith(left, wanted, test)
    if (all === undefined) return unproved(left, passing, { convicted, mustPass: wanted })
    if (all.size === 0) return { left, convicted, mustPass: wanted, isComplete: true }
    if (passing >= left.length) passing = 0 // a test that passed before does not always
    const found = await leastFailing(left, { passing, failures: all }, (part) => failingWith(part, wanted, test))
    passing = found.passing
    if (found.failures === undefined) return unproved(left, passing, { convicted, mustPass: wanted })
    if (passing === 0) {
      const now = await failuresOf([], wanted, test)
      if (now === undefined) return unproved(left, passing, { convicted, mustPass: wanted })
      const still = new Set([...wanted].filter((name) => !now.has(name)))
      if (still.size < wanted.size) {
        wanted = still
        if (still.size === 0) return { left, convicted, mustPass: still, isComplete: true }
        continue
      }
    }
    const set = left[found.passing]
    if (set === undefined) return { left, convicted, mustPass: wanted, isComplete: true }
    const byItself = passing === 0 || ((await failingWith(withNeeded(set, left), wanted, test))?.size ?? 0) > 0
    const message = found.failures.values().next().value ?? ''
    convicted.push({ set, tests: [...found.failures.keys()], message, byItself })
    left = left.filter((one) => one !== set && !(one.builtOn ?? []).includes(set.changeSetId))
  }
}

/** How many of the sets pass so that one more fails, and with what; without failures when no more runs may be made. */
async function leastFailing(
  sets: readonly ChangeSet[],
  { passing, failures }: { passing: number; failures: Failures },
  failing: (part: readonly ChangeSet[]) => Promise<Failures | undefined>,
): Promise<{ passing: number; failures: Failures | undefined }> {
  let [least, most, last] = [passing, sets.length, failures]
  while (most - least > 1) {
    const middle = (least + most) >> 1
    const found = await failing(sets.slice(0, middle))
    if (found === undefined) return { passing: least, failures: undefined }
    if (found.size === 0) least = middle
    else [most, last] = [middle, found]
  }
  return { passing: least, failures: last }
}

function withNeeded(set: ChangeSet, sets: readonly ChangeSet[]): ChangeSet[] {
  const needed = new Set([set.changeSetId, ...(set.builtOn ?? [])])
  return sets.filter(({ changeSetId }) => needed.has(changeSetId))
}

/** The tests that fail and must pass, on each of two runs: one that fails once may do so by itself. */
async function failingWith(
  sets: readonly ChangeSet[],
  mustPass: ReadonlySet<string>,
  test: TestWith,
): Promise<Failures | undefined> {
  if (sets.length === 0) return new Map()
  const first = await failuresOf(sets, mustPass, test)
  if (first === undefined || first.size === 0) return first
  const second = await failuresOf(sets, mustPass, test)
  return second && new Map([...first].filter(([name]) => second.has(name)))
}

/** Also tests that did not run: a change may keep them from being collected. */
async function failuresOf(
  sets: readonly ChangeSet[],
  mustPass: ReadonlySet<string>,
  test: TestWith,
): Promise<Failures | undefined> {
  const results = await test(sets)
  if (results === undefined) return undefined
  if (results.kind === 'unusable') return new Map([...mustPass].map((name) => [name, results.reason] as const))
  const missing = [...mustPass].filter((name) => !results.passed.has(name))
  return new Map(missing.map((name) => [name, results.failed.get(name) ?? 'it did not run'] as const))
}

function unproved(
  left: readonly ChangeSet[],
  passing: number,
  { convicted, mustPass }: Pick<Judged, 'convicted' | 'mustPass'>,
): Judged {
  const rest = left.slice(passing).map((set) => ({ set, tests: [], message: '', byItself: false }))
  return { left: left.slice(0, passing), convicted: [...convicted, ...rest], mustPass, isComplete: false }
}
