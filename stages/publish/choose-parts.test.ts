import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import type { ChangeSet } from '#domain/change-set.ts'
import { chooseParts, type PartRules, type SizedSet } from './choose-parts.ts'

type Given = { agent?: string; paths?: Record<string, number>; on?: string[] }

function sized(changeSetId: string, { agent = 'lint', paths = { [changeSetId]: 1 }, on = [] }: Given = {}): SizedSet {
  const files = Object.keys(paths).map((path) => ({ kind: 'delete' as const, path, baseHash: 'h' }))
  const ids = { changeSetId, operationId: 'o0000000000000000', bundle: agent, nodeId: 'n0000000000000000' }
  const set: ChangeSet = { ...ids, files, evidence: [], ...(on.length === 0 ? {} : { builtOn: on }) }
  return { set, lines: new Map(Object.entries(paths)) }
}

const wide: PartRules = { perAgent: true, maxFiles: 100, maxLines: 1_000 }
const together: PartRules = { ...wide, perAgent: false }

describe('the pull requests of a run', () => {
  it('are one for all agents, or one for each', () => {
    const sets = [sized('c2', { agent: 'test' }), sized('c1'), sized('c3')]
    expect(chooseParts(sets, together)).toEqual([{ agent: null, changeSetIds: ['c1', 'c2', 'c3'], left: [] }])
    expect(chooseParts(sets, wide)).toEqual([
      { agent: 'lint', changeSetIds: ['c1', 'c3'], left: [] },
      { agent: 'test', changeSetIds: ['c2'], left: [] },
    ])
    expect(chooseParts([], wide)).toEqual([])
  })

  it('have what is built on the changes of another agent together with these', () => {
    const sets = [
      sized('c1', { agent: 'lint' }),
      sized('c2', { agent: 'docstring', on: ['c1'] }),
      sized('c3', { agent: 'test', on: ['c1', 'c2'] }),
      sized('c4', { agent: 'docstring' }),
    ]
    expect(chooseParts(sets, wide)).toEqual([
      { agent: 'docstring', changeSetIds: ['c4'], left: [] },
      { agent: 'lint', changeSetIds: ['c1', 'c2', 'c3'], left: [] },
    ])
  })

  it('leave out what lacks a change that it is built on, and what is built on that', () => {
    const sets = [sized('c1', { on: ['c0'] }), sized('c2', { on: ['c1', 'c0'] }), sized('c3')]
    const left = ['c1', 'c2'].map((changeSetId) => ({ changeSetId, reason: 'base_missing' }))
    expect(chooseParts(sets, together)).toEqual([{ agent: null, changeSetIds: ['c3'], left }])
  })

  it('take files whole in the order of their paths, and smaller ones where a larger one has no room', () => {
    const sets = [
      sized('c1', { paths: { 'b.py': 4 } }),
      sized('c2', { paths: { 'a.py': 3 } }),
      sized('c3', { paths: { 'b.py': 4 } }),
      sized('c4', { paths: { 'c.py': 6 } }),
    ]
    const later = ['c1', 'c3'].map((changeSetId) => ({ changeSetId, reason: 'later' }))
    expect(chooseParts(sets, { ...together, maxLines: 10 })).toEqual([
      { agent: null, changeSetIds: ['c2', 'c4'], left: later },
    ])
    expect(chooseParts(sets, { ...together, maxFiles: 2 })).toMatchObject([{ changeSetIds: ['c2', 'c1', 'c3'] }])
  })

  it('take a part of a file that is over the limits as a whole, and say what is so by itself', () => {
    const paths = (lines: number) => ({ paths: { 'a.py': lines } })
    const sets = [
      sized('c1', paths(6)),
      sized('c2', paths(11)),
      sized('c3', { ...paths(4), on: ['c1'] }),
      sized('c4', { ...paths(3), on: ['c2'] }),
      sized('c5', paths(1)),
    ]
    expect(chooseParts(sets, { ...together, maxLines: 10 })).toEqual([
      {
        agent: null,
        changeSetIds: ['c1', 'c3'],
        left: [
          { changeSetId: 'c2', reason: 'too_large' },
          { changeSetId: 'c4', reason: 'too_large' },
          { changeSetId: 'c5', reason: 'later' },
        ],
      },
    ])
  })
})

const ids = Array.from({ length: 12 }, (_, at) => `c${String(at).padStart(2, '0')}`)
const aSet = fc.record({
  agent: fc.constantFrom('docstring', 'lint', 'test'),
  paths: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 0, max: 6 }), { minKeys: 1 }),
  on: fc.subarray(ids, { maxLength: 2 }),
  isThere: fc.boolean(),
})
/** Sets that are built on earlier ones, some of which are missing. */
const someSets = fc.array(aSet, { maxLength: ids.length }).map((all) =>
  all.flatMap(({ isThere, on, ...given }, at) => {
    const id = ids[at] ?? ''
    return isThere ? sized(id, { ...given, on: on.filter((other) => other < id) }) : []
  }),
)
const someRules = fc.record({
  perAgent: fc.boolean(),
  maxFiles: fc.integer({ min: 1, max: 4 }),
  maxLines: fc.integer({ min: 1, max: 20 }),
  published: fc.subarray(ids).map((some) => new Set(some)),
})

describe('whatever is accepted, the pull requests', () => {
  it('have or leave each set once, are within the limits, and have all that their sets are built on', () => {
    fc.assert(
      fc.property(someSets, someRules, (sets, rules) => {
        const parts = chooseParts(sets, rules)
        const known = new Map(sets.map(({ set, lines }) => [set.changeSetId, { set, lines }]))
        const all = parts.flatMap((part) => [...part.changeSetIds, ...part.left.map((one) => one.changeSetId)])
        expect(all.toSorted()).toEqual([...known.keys()].toSorted())
        expect(new Set(parts.map(({ agent }) => agent)).size).toBe(parts.length)
        for (const { changeSetIds } of parts) {
          const own = changeSetIds.flatMap((id) => known.get(id) ?? [])
          const bases = own.flatMap(({ set }) => set.builtOn ?? [])
          expect(bases.filter((id) => !changeSetIds.includes(id))).toEqual([])
          expect(new Set(own.flatMap(({ lines }) => [...lines.keys()])).size).toBeLessThanOrEqual(rules.maxFiles)
          const lines = own.flatMap((set) => [...set.lines.values()]).reduce((sum, count) => sum + count, 0)
          expect(lines).toBeLessThanOrEqual(rules.maxLines)
        }
      }),
      { numRuns: draws(500) },
    )
  })

  it('are the same in whatever order the sets come', () => {
    const shuffled = someSets.chain((sets) =>
      fc.tuple(fc.constant(sets), fc.shuffledSubarray(sets, { minLength: sets.length })),
    )
    fc.assert(
      fc.property(shuffled, someRules, ([sets, others], rules) => {
        expect(chooseParts(others, rules)).toEqual(chooseParts(sets, rules))
      }),
      { numRuns: draws(300) },
    )
  })

  it('keep what they have, if nothing else changes', () => {
    fc.assert(
      fc.property(someSets, someRules, (sets, rules) => {
        const before = chooseParts(sets, rules)
        const published = new Set(before.flatMap(({ changeSetIds }) => changeSetIds))
        const kept = chooseParts(sets, { ...rules, published }).flatMap(({ changeSetIds }) => changeSetIds)
        expect(kept).toEqual(expect.arrayContaining([...published]))
      }),
      { numRuns: draws(300) },
    )
  })
})
