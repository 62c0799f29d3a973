import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { Decision, Verdict } from '#domain/decision.ts'
import { judgeDecisions, type JudgedDecisions, type JudgeOptions, type WantedDecision } from './judge-decisions.ts'

function setOf(id: string, [start, end, text]: [number, number, string], builtOn: string[] = []): ChangeSet {
  const ids = { changeSetId: id, operationId: `o${id}`, bundle: 'lint', nodeId: 'n1', evidence: [] }
  const files = [{ kind: 'edit' as const, path: 'a.py', baseHash: 'b', edits: [{ start, end, text }] }]
  return { ...ids, files, ...(builtOn.length === 0 ? {} : { builtOn }) }
}

type Verdicts = Readonly<Record<string, Verdict>>

/** `unseen`: sets that nobody looks at any more, since they were made again. */
type Case = JudgeOptions & { before?: Verdicts; seen?: Verdicts; unseen?: readonly string[] }

function judge(
  sets: readonly ChangeSet[],
  wanted: readonly [string, Verdict][],
  { before = {}, seen, unseen = [], ...options }: Case = {},
): JudgedDecisions {
  const decisions = Object.entries(before).map(([changeSetId, verdict], at): [string, Decision] => {
    const made = { reason: null, version: at + 1, at: 0, by: 'human/t', agent: 'lint', runId: 'r1', recordHash: 'h' }
    return [changeSetId, { changeSetId, verdict, operationId: `o${changeSetId}`, ...made }]
  })
  const dependents = (id: string) =>
    sets.flatMap(({ changeSetId, builtOn }) =>
      builtOn?.includes(id) && !unseen.includes(changeSetId) ? changeSetId : [],
    )
  const known = {
    sets: new Map(sets.map((set) => [set.changeSetId, set])),
    builtOn: new Map(sets.map(({ changeSetId }) => [changeSetId, dependents(changeSetId)])),
    decisions: new Map(decisions),
    ...(seen && { seen: new Map(decisions.filter(([id, { verdict }]) => seen[id] === verdict)) }),
    conflicts: [],
  }
  const all = wanted.map(([changeSetId, verdict]): WantedDecision => ({
    changeSetId,
    verdict,
    reason: null,
    version: undefined,
  }))
  return judgeDecisions(all, known, options)
}

const made = (judged: JudgedDecisions) =>
  judged.made.map(({ changeSetId, verdict, becauseOf }) => [changeSetId, verdict, becauseOf])

const base = setOf('c1', [2, 4, 'x'])
const onBase = setOf('c2', [1, 4, 'bx'], ['c1'])
const onBoth = setOf('c3', [0, 4, 'abx'], ['c1', 'c2'])
const all = [onBoth, onBase, base]

describe('a change set that is built on others', () => {
  it('keeps these once it is accepted, also where it was made again and is accepted in the same request', () => {
    const asked: [string, Verdict][] = [
      ['c2', 'accepted'],
      ['c1', 'rejected'],
    ]
    const judged = judge(all.slice(1), asked, { before: { c1: 'accepted' }, unseen: ['c2'] })
    expect(made(judged)).toEqual([['c2', 'accepted', undefined]])
    expect(judged.refused).toMatchObject([{ changeSetId: 'c1', blocked: { verdict: 'rejected', by: ['c2'] } }])
  })

  it.each<[Verdict, Verdict]>([
    ['accepted', 'rejected'],
    ['pending', 'accepted'],
  ])('is not decided with another one when somebody has made it %s since the request began', (since, verdict) => {
    const [asked, other] = verdict === 'accepted' ? ['c2', 'c1'] : ['c1', 'c2']
    const judged = judge(all.slice(1), [[asked, verdict]], {
      before: { [other]: since },
      seen: {},
      withDependents: true,
    })
    expect(judged.made).toEqual([])
    expect(judged.refused).toMatchObject([{ changeSetId: asked, blocked: { verdict, by: [other] } }])
  })

  it('is decided once in a request, as it was asked for', () => {
    const asked: [string, Verdict][] = [
      ['c1', 'rejected'],
      ['c2', 'accepted'],
    ]
    expect(judge(all.slice(1), asked, { withDependents: true }).refused).toMatchObject([
      { changeSetId: 'c1', blocked: { verdict: 'rejected', by: ['c2'] } },
      { changeSetId: 'c2', blocked: { verdict: 'accepted', by: ['c1'] } },
    ])
  })
})

const drawn = fc.record({
  on: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  edit: fc.tuple(fc.nat(12), fc.nat(4), fc.constantFrom('x', 'y')),
})
const sets = fc.array(drawn, { minLength: 3, maxLength: 8 }).map((list) => {
  const done: ChangeSet[] = []
  for (const [at, { on: chosen, edit }] of list.entries()) {
    const needed = done.filter((_, place) => chosen[place] === true && place % 2 === at % 2)
    const ids = needed.flatMap(({ changeSetId, builtOn = [] }) => [changeSetId, ...builtOn])
    done.push(setOf(`c${at}`, [edit[0], edit[0] + edit[1], edit[2]], [...new Set(ids)]))
  }
  return done
})
const request = fc.record({
  wanted: fc.uniqueArray(fc.tuple(fc.nat(7), fc.constantFrom<Verdict>('accepted', 'rejected', 'pending')), {
    minLength: 1,
    maxLength: 5,
    selector: ([at]) => at,
  }),
  withDependents: fc.boolean(),
})

/** What one decision makes of the verdicts; undefined: it is refused. */
function model(known: readonly ChangeSet[], now: Verdicts, [id, verdict]: [string, Verdict], withDependents: boolean) {
  const isOn = (set: ChangeSet, other: string) => set.builtOn?.includes(other) ?? false
  const at = (other: string) => now[other] ?? 'pending'
  if (at(id) === verdict) return now
  if (verdict === 'accepted') {
    const needed = known.find((set) => set.changeSetId === id)?.builtOn ?? []
    if (needed.some((other) => at(other) === 'rejected')) return undefined
    const next = { ...now, ...Object.fromEntries([...needed, id].map((other) => [other, 'accepted' as const])) }
    const together = known.filter((set) => next[set.changeSetId] === 'accepted')
    return composeChangeSets(together).conflicts.length > 0 ? undefined : next
  }
  const inWay = known.filter((set) => {
    const theirs = at(set.changeSetId)
    return isOn(set, id) && (theirs === 'accepted' || (theirs === 'pending' && verdict === 'rejected'))
  })
  if (inWay.length > 0 && !withDependents) return undefined
  return {
    ...now,
    ...Object.fromEntries([...inWay.map((set) => set.changeSetId), id].map((other) => [other, verdict])),
  }
}

describe('any sequence of decisions over random change sets that are built on one another', () => {
  it('is what a plain model makes of it, one decision at a time', () => {
    fc.assert(
      fc.property(sets, fc.array(request, { maxLength: 20 }), (known, requests) => {
        let now: Verdicts = {}
        for (const { wanted, withDependents } of requests) {
          const [at = 0, verdict = 'pending'] = wanted[0] ?? []
          const id = `c${at % known.length}`
          const judged = judge(known, [[id, verdict]], { before: now, withDependents })
          const next = model(known, now, [id, verdict], withDependents)
          expect(judged.refused).toHaveLength(next === undefined ? 1 : 0)
          const said = Object.fromEntries(judged.made.map((one) => [one.changeSetId, one.verdict]))
          expect({ ...now, ...said }).toEqual(next ?? now)
          now = { ...now, ...said }
        }
      }),
      { numRuns: draws(1_000) },
    )
  })

  it('leaves no set accepted without what it is built on, or beside what it collides with, after any step', () => {
    fc.assert(
      fc.property(sets, fc.array(request, { maxLength: 8 }), (known, requests) => {
        let now: Verdicts = {}
        for (const { wanted, withDependents } of requests) {
          const asked = wanted.flatMap(([at, verdict]): [string, Verdict][] =>
            at < known.length ? [[`c${at}`, verdict]] : [],
          )
          const before = now
          const judged = judge(known, asked, { before, withDependents })
          for (const { changeSetId, verdict } of judged.made) {
            now = { ...now, [changeSetId]: verdict }
            const accepted = known.filter((set) => now[set.changeSetId] === 'accepted')
            expect(composeChangeSets(accepted).conflicts).toEqual([])
          }
          const decided = judged.made.map((one) => one.changeSetId)
          expect(new Set(decided).size).toBe(decided.length)
          const refused = new Set(judged.refused.map((one) => one.changeSetId))
          for (const [id, verdict] of asked) {
            expect(now[id] ?? 'pending').toBe(refused.has(id) ? (before[id] ?? 'pending') : verdict)
          }
        }
      }),
      { numRuns: draws(1_000) },
    )
  })

  it('rejects and takes back all at once, in any order', () => {
    fc.assert(
      fc.property(sets, request, fc.infiniteStream(fc.nat()), (known, { wanted: [first] }, draw) => {
        const order = new Map(known.map((set) => [set, draw.next().value]))
        const ids = known
          .toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0))
          .map((set) => set.changeSetId)
        const before = Object.fromEntries(
          made(judge(known, [[`c${first?.[0] ?? 0}`, 'accepted']])).map(([id]) => [id, 'accepted' as const]),
        )
        for (const verdict of ['rejected', 'pending'] as const) {
          const judged = judge(
            known,
            ids.map((id) => [id, verdict]),
            { before },
          )
          expect(judged.refused).toEqual([])
        }
      }),
      { numRuns: draws(500) },
    )
  })
})
