import type { ChangeSet } from '#domain/change-set.ts'
import { neededFirst } from '#change-sets/independent-groups.ts'
import type { TestResults } from './gate-command.ts'

/** Runs the tests on the snapshot with these sets; undefined when no more runs may be made. */
export type TestWith = (sets: readonly ChangeSet[]) => Promise<TestResults | undefined>

/** A set that was left out, with the tests that fail only with it, or none, when it is unproved. `byItself`: one fails with it alone. */
export type Convicted = { set: ChangeSet; tests: readonly string[]; message: string; byItself: boolean }

export type Judged = {
  left: readonly ChangeSet[]
  convicted: readonly Convicted[]
  /** Names what had to pass at the end; nothing when the snapshot itself passes no more, and then `left` is not proved. */
  mustPass: ReadonlySet<string>
  /** It came to its end within the runs that it may make. */
  isComplete: boolean
}

type Failures = ReadonlyMap<string, string>

/**
 * Returns the sets with which all of `mustPass` passes: it adds as many at once as are expected to pass, and finds by halving the one with
 * which a test fails. That is left out if the test fails again, and passes without it. What fails on the snapshot convicts nobody. When no
 * more runs may be made, the sets that are not known to pass are left out.
 */
export async function findWorse(
  sets: readonly ChangeSet[],
  mustPass: ReadonlySet<string>,
  test: TestWith,
): Promise<Judged> {
  let left = neededFirst(sets)
  let wanted = mustPass
  const convicted: Convicted[] = []
  const failing = (part: readonly ChangeSet[]) => failuresOf(part, wanted, test)
  const all = left.length === 0 ? new Map() : await failing(left)
  /** Counts the sets, from the first, with which everything passes. */
  let passing = all?.size === 0 ? left.length : 0
  let step = Math.max(1, Math.floor(left.length / ((all?.size ?? 0) + 1)))
  while (passing < left.length) {
    const worse = await nextFailing(left, { passing, step }, failing)
    if (worse?.kind === 'pass') {
      passing = worse.passing
      step *= 2
      continue
    }
    const judged = worse && (await judge(left, worse, failing))
    if (judged === undefined) return unproved(left, passing, { convicted, mustPass: wanted })
    const { culprit, gone } = judged
    passing = judged.passing
    step = Math.max(1, Math.floor(step / 2))
    wanted = new Set([...wanted].filter((name) => gone?.has(name) !== true))
    if (wanted.size === 0) return { left, convicted, mustPass: wanted, isComplete: true }
    if (culprit === undefined) continue
    convicted.push(culprit)
    left = left.filter((set) => set !== culprit.set && !(set.builtOn ?? []).includes(culprit.set.changeSetId))
  }
  return { left, convicted, mustPass: wanted, isComplete: true }
}

type Failing = (part: readonly ChangeSet[]) => Promise<Failures | undefined>

/** Says that with the first `passing` sets everything passes, and that with `set`, the next one, `failures` do not. */
type Found = { kind: 'fail'; passing: number; set: ChangeSet; failures: Failures; isFresh: boolean }

/** Adds `step` more sets. Undefined when no more runs may be made. */
async function nextFailing(
  sets: readonly ChangeSet[],
  { passing, step }: { passing: number; step: number },
  failing: Failing,
): Promise<Found | { kind: 'pass'; passing: number } | undefined> {
  let [least, most] = [passing, Math.min(passing + step, sets.length)]
  let failures = await failing(sets.slice(0, most))
  if (failures?.size === 0) return { kind: 'pass', passing: most }
  while (failures !== undefined && most - least > 1) {
    const middle = (least + most) >> 1
    const fault = await failing(sets.slice(0, middle))
    if (fault?.size === 0) least = middle
    else [most, failures] = [middle, fault]
  }
  const set = sets[least]
  return failures && set && { kind: 'fail', passing: least, set, failures, isFresh: least > passing }
}

/** `passing` is what is known by now, `gone` what the snapshot no longer passes. Without a culprit the failure was not the set's. */
type Judgement = { passing: number; culprit?: Convicted; gone?: Failures }

/** Returns undefined when no more runs may be made. */
async function judge(
  sets: readonly ChangeSet[],
  { passing, set, failures, isFresh }: Found,
  failing: Failing,
): Promise<Judgement | undefined> {
  const again = await failing(sets.slice(0, passing + 1))
  if (again === undefined) return undefined
  const both = new Map([...failures].filter(([name]) => again.has(name)))
  if (both.size === 0) return { passing: passing + 1 }
  const without = isFresh ? new Map() : await failing(sets.slice(0, passing))
  if (without === undefined) return undefined
  if (without.size > 0) {
    const gone = passing === 0 ? without : await failing([])
    // With changes a test that passed before does not always: they are looked at once more.
    return gone && { passing: [...without.keys()].every((name) => gone.has(name)) ? passing : 0, gone }
  }
  const alone = passing === 0 ? both : await failing(withNeeded(set, sets))
  const byItself = [...both.keys()].some((name) => alone?.has(name) === true)
  const message = both.values().next().value ?? ''
  return { passing, culprit: { set, tests: [...both.keys()], message, byItself } }
}

function withNeeded(set: ChangeSet, sets: readonly ChangeSet[]): ChangeSet[] {
  const needed = new Set([set.changeSetId, ...(set.builtOn ?? [])])
  return sets.filter(({ changeSetId }) => needed.has(changeSetId))
}

/** Counts tests that did not run, too: a change may keep them from being collected. */
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
