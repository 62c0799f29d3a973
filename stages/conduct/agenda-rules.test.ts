import { describe, expect, it } from 'vitest'
import type { Criterion } from '#domain/agenda.ts'
import { anAgenda, anItemState, type SomeCounts, someCounts } from './agenda.fixture.ts'
import { planHash, readyItems, verdictOn } from './agenda-rules.ts'

const ready = (...given: Parameters<typeof readyItems>) => readyItems(...given).map((item) => item.item_id)
const ended = (id: string, result: SomeCounts = {}, criteria: Criterion[] = []) =>
  anItemState(id, { status: 'ended', result: someCounts(result), success_criteria: criteria })

describe('what an item has come to', () => {
  it.each<[string, SomeCounts, Criterion[], string]>([
    ['with nothing to do is met', {}, [], 'met'],
    ['of whose operations some ended well is met', { ended: { succeeded: 1, failed: 9 } }, [], 'met'],
    ['of whose operations none ended well is unmet', { ended: { failed: 1 } }, [], 'unmet'],
    ['with work left is unmet', { ended: { succeeded: 1 }, left: 1 }, [{ kind: 'no_work_left' }], 'unmet'],
    ['with no work left is met', { ended: { succeeded: 1, unchanged: 1 } }, [{ kind: 'no_work_left' }], 'met'],
    ['with too few changes is unmet', { change_sets: 1 }, [{ kind: 'proved_changes', least: 2 }], 'unmet'],
    ['with enough findings is met', { findings: 2 }, [{ kind: 'findings', least: 2 }], 'met'],
    ['that a model must judge is open', {}, [{ kind: 'judged', text: 'reads well' }], 'open'],
  ])('%s', (_what, result, criteria, verdict) => {
    expect(verdictOn(ended('a', result, criteria))).toBe(verdict)
  })

  it('is unmet where it could not be planned, and open while it goes on', () => {
    expect(verdictOn(anItemState('a', { status: 'blocked' }))).toBe('unmet')
    expect(verdictOn(anItemState('a', { status: 'active' }))).toBe('open')
  })
})

describe('what is ready', () => {
  it('is what waits for nothing, the most urgent first', () => {
    const items = [
      anItemState('a', { priority: 7 }),
      anItemState('b', { priority: 1 }),
      anItemState('c', { status: 'active' }),
    ]
    expect(ready(anAgenda(items))).toEqual(['b', 'a'])
  })

  it('waits for what it depends on, and does not begin where that ended without success', () => {
    const after = anItemState('z', { depends_on: ['a', 'b'] })
    expect(ready(anAgenda([ended('a'), anItemState('b', { status: 'active' }), after]))).toEqual([])
    expect(ready(anAgenda([ended('a'), ended('b', { ended: { failed: 1 } }), after]))).toEqual([])
    expect(ready(anAgenda([ended('a'), ended('b'), after]))).toEqual(['z'])
  })

  it('is nothing while a person must approve the plan', () => {
    const items = [anItemState('a')]
    const wanted = { plan_hash: planHash(anAgenda(items)), wanted_since: 1 }
    expect(ready(anAgenda(items, { approval: wanted }))).toEqual([])
    expect(ready(anAgenda(items, { approval: { ...wanted, by: 'me', at: 2 } }))).toEqual(['a'])
  })
})

describe('the hash of a plan', () => {
  const items = [anItemState('a'), anItemState('b')]

  it('does not depend on the order of items, or on how far they are', () => {
    const later = items
      .toReversed()
      .map((item) => ({ ...item, status: 'ended' as const, retries: 1, result: someCounts() }))
    expect(planHash(anAgenda(later))).toBe(planHash(anAgenda(items)))
  })

  it('changes with what it is for, also with words that no plan has taken in', () => {
    const said = { kind: 'said', text: 'leave the tests alone', by: 'me' } as const
    const hashes = [anAgenda(items), anAgenda(items, { objective: 'another' }), anAgenda(items, { heard: [said] })].map(
      planHash,
    )
    expect(new Set(hashes).size).toBe(3)
  })

  it('changes with what an item may do, and when one is stale', () => {
    const wider = [anItemState('a', { where: { paths: ['src'] } }), anItemState('b')]
    const fewer = [anItemState('a'), anItemState('b', { status: 'stale' })]
    expect(new Set([items, wider, fewer].map((plan) => planHash(anAgenda(plan)))).size).toBe(3)
  })
})
