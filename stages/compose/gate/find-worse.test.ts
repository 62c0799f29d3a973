import { describe, expect, it } from 'vitest'
import type { ChangeSet } from '#domain/change-set.ts'
import { changeSetId, operationId } from '#domain/ids.ts'
import { openRandom } from '#platform/seeded-random.ts'
import { findWorse } from './find-worse.ts'
import type { TestResults } from './gate-command.ts'

const tests = ['a', 'b', 'c', 'd']
const mustPass = new Set(tests)

function setNamed(name: string, builtOn?: string[]): ChangeSet {
  const files = [{ kind: 'create' as const, path: `${name}.txt`, content: name }]
  const operation = operationId(`n${name}`, 'lint', 'agent')
  const id = changeSetId(operation, files)
  return {
    changeSetId: id,
    operationId: operation,
    bundle: 'lint',
    nodeId: `n${name}`,
    files,
    evidence: [],
    ...(builtOn && { builtOn }),
  }
}

const results = (failing: Iterable<string>): TestResults => {
  const failed = new Map([...failing].map((name) => [name, `${name} failed`]))
  return { kind: 'ran', namesTests: true, failed, passed: new Set(tests.filter((name) => !failed.has(name))) }
}

/** Tests that fail while all of the sets named with them are there. */
type Harm = { test: string; sets: readonly ChangeSet[] }

function suite(harms: readonly Harm[], limit = Infinity) {
  let runs = 0
  const test = async (sets: readonly ChangeSet[]) => {
    if (runs >= limit) return undefined
    runs += 1
    return results(harms.flatMap((harm) => (harm.sets.every((set) => sets.includes(set)) ? [harm.test] : [])))
  }
  return { test, runs: () => runs }
}

const seed = 20_261_127

describe('the gate', () => {
  it('leaves everything where nothing gets worse, with one run', async () => {
    const sets = ['1', '2', '3'].map((name) => setNamed(name))
    const { test, runs } = suite([])
    expect(await findWorse(sets, mustPass, test)).toEqual({ left: sets, convicted: [], mustPass, isComplete: true })
    expect(runs()).toBe(1)
  })

  it(`leaves out what makes worse and nothing else, whatever harms there are (seed ${seed})`, async () => {
    const random = openRandom(seed)
    for (let round = 0; round < 200; round += 1) {
      const sets = Array.from({ length: random.int(1, 40) }, (_, at) => setNamed(`${round}-${at}`))
      const culprits = sets.filter(() => random.fraction() < 0.15)
      const harms = culprits.map((set) => ({ test: tests[random.int(0, 3)] ?? 'a', sets: [set] }))
      const { test, runs } = suite(harms)
      const { left, convicted, isComplete } = await findWorse(sets, mustPass, test)
      expect(isComplete).toBe(true)
      expect(new Set(convicted.map(({ set }) => set))).toEqual(new Set(culprits))
      expect(left).toEqual(sets.filter((set) => !culprits.includes(set)))
      expect(runs()).toBeLessThanOrEqual(3 + culprits.length * (5 + Math.ceil(Math.log2(sets.length + 1))))
      expect(convicted.every(({ byItself }) => byItself)).toBe(true)
    }
  })

  it('leaves out the later one of two that fail only together', async () => {
    const sets = ['1', '2', '3', '4', '5'].map((name) => setNamed(name))
    const [, second, , fourth] = sets
    if (second === undefined || fourth === undefined) throw new Error('there are five')
    const { left, convicted } = await findWorse(sets, mustPass, suite([{ test: 'b', sets: [second, fourth] }]).test)
    expect(convicted).toEqual([{ set: fourth, tests: ['b'], message: 'b failed', byItself: false }])
    expect(left).not.toContain(fourth)
    expect(left).toHaveLength(4)
  })

  it('says that a set fails by itself where the same test failed with it alone, not another one', async () => {
    const [first, second] = [setNamed('1'), setNamed('2')]
    const together = suite([{ test: 'b', sets: [first, second] }]).test
    const test = async (sets: readonly ChangeSet[]) =>
      sets.length === 1 && sets.includes(second) ? results(['c']) : together(sets)
    const { convicted } = await findWorse([first, second], mustPass, test)
    expect(convicted).toMatchObject([{ set: second, tests: ['b'], byItself: false }])
  })

  it('leaves out what is built on a culprit', async () => {
    const base = setNamed('base')
    const built = setNamed('built', [base.changeSetId])
    const other = setNamed('other')
    const { left, convicted } = await findWorse(
      [built, base, other],
      mustPass,
      suite([{ test: 'a', sets: [base] }]).test,
    )
    expect(convicted.map(({ set }) => set)).toEqual([base])
    expect(left).toEqual([other])
  })

  it('convicts nobody of a test that fails once and passes the next time', async () => {
    const sets = ['1', '2'].map((name) => setNamed(name))
    let runs = 0
    const flaky = async () => results((runs += 1) === 1 ? ['c'] : [])
    expect(await findWorse(sets, mustPass, flaky)).toMatchObject({ left: sets, convicted: [] })
  })

  it('counts a test that does not run any more as one that fails', async () => {
    const sets = ['1', '2'].map((name) => setNamed(name))
    const test = async (part: readonly ChangeSet[]): Promise<TestResults> =>
      part.includes(sets[1] ?? setNamed(''))
        ? { ...results([]), kind: 'ran', passed: new Set(['a']), failed: new Map(), namesTests: true }
        : results([])
    const { convicted } = await findWorse(sets, mustPass, test)
    expect(convicted).toMatchObject([{ set: sets[1], tests: ['b', 'c', 'd'], message: 'it did not run' }])
  })

  it('convicts nobody of a test that the original no longer passes', async () => {
    const sets = ['1', '2', '3'].map((name) => setNamed(name))
    const midnight = async () => results(['a'])
    expect(await findWorse(sets, mustPass, midnight)).toEqual({
      left: sets,
      convicted: [],
      mustPass: new Set(['b', 'c', 'd']),
      isComplete: true,
    })
    const broken = async (): Promise<TestResults> => ({ kind: 'unusable', reason: 'no memory' })
    expect(await findWorse(sets, mustPass, broken)).toMatchObject({ left: sets, mustPass: new Set() })
  })

  it('leaves out at its limit what is not known to pass', async () => {
    const sets = Array.from({ length: 16 }, (_, at) => setNamed(`${at}`))
    const harms = [9, 12].map((at) => ({ test: 'a', sets: sets.slice(at, at + 1) }))
    const { left, convicted, isComplete } = await findWorse(sets, mustPass, suite(harms, 9).test)
    expect(isComplete).toBe(false)
    expect(left).toEqual(sets.slice(0, 9))
    expect(new Set(convicted.map(({ set }) => set))).toEqual(new Set(sets.slice(9)))
    expect(convicted.filter((one) => one.tests.length === 0).length).toBeGreaterThan(0)
    expect(await suite(harms).test(left)).toEqual(results([]))
  })
})
