import { describe, expect, it } from 'vitest'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import type { Decision, Verdict } from '#domain/decision.ts'
import { judgeDecisions, type JudgeOptions, type KnownSets, type WantedDecision } from './judge-decisions.ts'

function setOf(changeSetId: string, ...files: FileChange[]): ChangeSet {
  return { changeSetId, operationId: `o${changeSetId}`, bundle: 'lint', nodeId: 'n1', files, evidence: [] }
}

function edit(start: number, end: number, text: string, path = 'a.py'): FileChange {
  return { kind: 'edit', path, baseHash: 'b', edits: [{ start, end, text }] }
}

function decided(changeSetId: string, verdict: Verdict, version: number, reason: string | null = null): Decision {
  const made = { agent: 'lint', runId: 'r1', operationId: `o${changeSetId}`, recordHash: 'h' }
  return { changeSetId, verdict, reason, version, at: 0, by: 'human/t1', ...made }
}

function want(changeSetId: string, verdict: Verdict, more: Partial<WantedDecision> = {}): WantedDecision {
  return { changeSetId, verdict, reason: null, version: undefined, ...more }
}

type Case = JudgeOptions & Partial<Pick<KnownSets, 'conflicts' | 'retried'>> & { before?: Decision[] }

function judge(
  sets: readonly ChangeSet[],
  wanted: WantedDecision[],
  { conflicts = [], retried = new Set(), before = [], ...options }: Case = {},
) {
  const decisions = new Map(before.map((one) => [one.changeSetId, one]))
  const byId = new Map(sets.map((set) => [set.changeSetId, set]))
  return judgeDecisions(wanted, { sets: byId, builtOn: new Map(), decisions, conflicts, retried }, options)
}

const [one, two] = [setOf('c1', edit(0, 5, 'x')), setOf('c2', edit(3, 8, 'y'))]
const accept = (id: string) => want(id, 'accepted')

describe('a decision', () => {
  it('that was made before is nothing, whatever version is given', () => {
    const wanted = [want('c1', 'accepted', { version: 3 }), want('c2', 'pending')]
    const before = [decided('c1', 'accepted', 7)]
    expect(judge([one, two], wanted, { before })).toEqual({ made: [], refused: [], leftAlone: [] })
  })

  it('to try again what was rejected before is a new one, and nothing while the retry that was asked for is not over', () => {
    const before = decided('c1', 'rejected', 7, 'too long')
    const again = want('c1', 'rejected', { reason: 'too long', retry: true })
    expect(judge([one], [again], { before: [before] }).made).toEqual([again])
    expect(judge([one], [again], { before: [{ ...before, retry: true }] }).made).toEqual([])
    const retried = new Set(['c1'])
    expect(judge([one], [again], { before: [{ ...before, retry: true }], retried }).made).toEqual([again])
  })

  it('is made with all others or not at all, where that is asked for', () => {
    const before = [decided('c1', 'accepted', 3), decided('c3', 'accepted', 4)]
    const third = setOf('c3', edit(6, 9, 'z'))
    const instead = [want('c1', 'pending'), accept('c2')]
    const judged = judge([one, two, third], instead, { before, allOrNone: true })
    expect(judged).toMatchObject({
      made: [],
      refused: [{ changeSetId: 'c2', conflict: { with: { changeSetId: 'c3' } } }],
    })
    expect(judge([one, two], instead, { before, allOrNone: true }).made).toEqual(instead)
  })

  it('with another reason is a new one', () => {
    const before = [decided('c1', 'rejected', 7, 'too long')]
    const again = want('c1', 'rejected', { reason: 'too long' })
    const other = want('c1', 'rejected', { reason: 'wrong' })
    expect(judge([one], [again], { before }).made).toEqual([])
    expect(judge([one], [other], { before }).made).toEqual([other])
  })

  it.each([
    [0, 'WORK_003'],
    [6, 'WORK_003'],
    [7, undefined],
    [undefined, undefined],
  ])('on version %s of a set whose decision is version 7: %s', (version, code) => {
    const before = [decided('c1', 'accepted', 7)]
    const { refused } = judge([one], [want('c1', 'rejected', { version })], { before })
    expect(refused).toMatchObject(code === undefined ? [] : [{ errorCode: code, decision: before[0] }])
  })

  const proved = { operationId: 'oc2', path: 'a.py', errorCode: 'WORK_004', reason: 'parses fails' } as const
  it('to accept a set that breaks the file with another that is accepted is refused', () => {
    const [first, second] = [setOf('c1', edit(0, 1, 'x')), setOf('c2', edit(4, 5, 'y'))]
    const conflicts = [{ changeSetId: 'c2', ...proved, with: { changeSetId: 'c1', operationId: 'oc1' } }]
    for (const order of [
      ['c1', 'c2'],
      ['c2', 'c1'],
    ]) {
      const { made, refused } = judge([first, second], order.map(accept), { conflicts })
      expect(made).toHaveLength(1)
      expect(refused).toMatchObject([
        { changeSetId: order[1], errorCode: 'WORK_004', conflict: { with: { changeSetId: order[0] } } },
      ])
    }
    expect(judge([second], [accept('c2')], { conflicts }).refused).toEqual([])
  })

  it('to accept a set that breaks the file by itself is refused, also beside another one, and the other one is not', () => {
    const conflicts = [{ changeSetId: 'c2', ...proved, byItself: true as const }]
    const third = setOf('c3', edit(9, 10, 'z'))
    const { made, refused } = judge([two, third], [accept('c2'), accept('c3')], { conflicts })
    expect(made).toEqual([accept('c3')])
    expect(refused).toMatchObject([{ changeSetId: 'c2', errorCode: 'WORK_004', conflict: { reason: 'parses fails' } }])
    const on = { ...third, builtOn: ['c2'] }
    expect(judge([two, on], [accept('c3')], { conflicts }).refused).toMatchObject([
      { changeSetId: 'c3', errorCode: 'WORK_004', conflict: { changeSetId: 'c2' } },
    ])
  })

  it('to accept a set that broke the file among all others is left to the proof of what is accepted', () => {
    const conflicts = [{ changeSetId: 'c2', ...proved }]
    expect(judge([two], [accept('c2')], { conflicts }).refused).toEqual([])
  })
})

describe('a decision in bulk', () => {
  const inBulk = (id: string, verdict: Verdict, more: Partial<WantedDecision> = {}) =>
    want(id, verdict, { isBulk: true, ...more })
  const apart = setOf('c3', edit(0, 5, 'x', 'b.py'))
  const byPolicy = (verdict: Verdict): Decision => ({ ...decided('c1', verdict, 7), by: 'policy/auto' })

  it.each<[Verdict, Verdict]>([
    ['rejected', 'accepted'],
    ['accepted', 'rejected'],
    ['accepted', 'pending'],
  ])('leaves alone what a person has %s, and makes the others %s', (before, wanted) => {
    const judged = judge([one, apart], [inBulk('c1', wanted), inBulk('c3', wanted, { reason: 'all of it' })], {
      before: [decided('c1', before, 7), { ...decided('c3', before, 8), by: 'policy/auto' }],
    })
    expect(judged.made.map(({ changeSetId }) => changeSetId)).toEqual(['c3'])
    expect(judged).toMatchObject({ refused: [], leftAlone: ['c1'] })
  })

  it('leaves alone the reason that a person gave, and what somebody has decided since it was looked for', () => {
    const before = [decided('c1', 'rejected', 7, 'it is wrong')]
    const again = [inBulk('c1', 'rejected', { reason: 'no' })]
    expect(judge([one], again, { before })).toEqual({ made: [], refused: [], leftAlone: ['c1'] })
    const late = [inBulk('c1', 'accepted', { version: 0 })]
    expect(judge([one], late, { before })).toEqual({ made: [], refused: [], leftAlone: ['c1'] })
  })

  it('decides on what a policy has decided, and on what somebody has taken back', () => {
    for (const before of [byPolicy('accepted'), decided('c1', 'pending', 7)]) {
      const wanted = [inBulk('c1', 'rejected')]
      expect(judge([one], wanted, { before: [before] })).toEqual({ made: wanted, refused: [], leftAlone: [] })
    }
  })
})
