import { describe, expect, it } from 'vitest'
import type { AgendaState, InboxMessage, ItemCounts } from '#domain/agenda.ts'
import { anAgenda, anItemState, someCounts } from './agenda.fixture.ts'
import { planHash, waitsForApproval } from './agenda-rules.ts'
import { drainInbox } from './drain-inbox.ts'
import type { ReadFiles } from './drain-inbox.ts'

const drained = (
  state: AgendaState,
  messages: InboxMessage[],
  counts: Record<string, ItemCounts> = {},
  files: ReadFiles = new Map(),
) => drainInbox(state, messages, { counts: new Map(Object.entries(counts)), files, now: 1000 })
const statuses = ({ items }: AgendaState) => items.map(({ status }) => status)
const escalation = (key: string): InboxMessage => ({
  kind: 'escalation',
  escalation: {
    kind: 'stalled_run',
    urgency: 'low',
    affected: [],
    mitigation: 'retry',
    rationale: 'r',
    dedup_key: key,
  },
})

describe('a message to the conductor', () => {
  it.for([
    ['has come', [{ kind: 'item_ended', item_id: 'a' }]],
    ['was lost', []],
  ] as const)('that an item has ended %s: what it came to is known by its counts', ([, messages]) => {
    const before = anAgenda([anItemState('a', { status: 'planning' }), anItemState('b')])
    const after = drained(before, [...messages], { a: someCounts({ planned: 2, ended: { succeeded: 2 }, reads: 'r' }) })
    expect(after.items).toMatchObject([{ status: 'ended', result: { ended: { succeeded: 2 } } }, { status: 'waiting' }])
  })

  it.for([
    ['before it is planned', someCounts(), 'planning'],
    ['while it is planned', someCounts({ planned: 2, ended: { succeeded: 2 } }), 'active'],
    ['while its operations run', someCounts({ planned: 2, open: 1, reads: 'r' }), 'active'],
  ] as const)('that an item has ended which comes late, %s once more, does not end it', ([, counts, status]) => {
    const before = anAgenda([anItemState('a', { status: 'planning', retries: 1 })])
    expect(statuses(drained(before, [{ kind: 'item_ended', item_id: 'a' }], { a: counts }))).toEqual([status])
  })

  it('of anything shows what is left of the changes of an ended item, where another one has made them anew', () => {
    const before = anAgenda([anItemState('a', { status: 'ended', result: someCounts({ change_sets: 2 }) })])
    const after = drained(before, [], { a: someCounts({ change_sets: 1 }) })
    expect(after.items).toMatchObject([{ status: 'ended', result: { change_sets: 1 } }])
  })

  it('that an item has ended which could not be planned blocks it', () => {
    const counts = { a: someCounts({ fault: { error_code: 'INTAKE_007', reason: 'no such node' } }) }
    const before = anAgenda([anItemState('a', { status: 'planning' })])
    expect(statuses(drained(before, [{ kind: 'item_ended', item_id: 'a' }], counts))).toEqual(['blocked'])
  })

  it('of an approval counts only for the plan that there is, and only once', () => {
    const items = [anItemState('a')]
    const hash = planHash(anAgenda(items))
    const before = anAgenda(items, { approval: { plan_hash: hash, wanted_since: 1 } })
    const approve = (plan_hash: string, by = 'me'): InboxMessage => ({ kind: 'approved', plan_hash, by })
    const said: InboxMessage = { kind: 'said', text: 'leave the tests alone', by: 'me' }
    expect(waitsForApproval(drained(before, [approve('another')]))).toBe(true)
    expect(waitsForApproval(drained(before, [said, approve(hash)]))).toBe(true)
    const after = drained(before, [approve(hash), approve(hash, 'you')])
    expect(after.approval).toMatchObject({ by: 'me', at: 1000 })
  })

  it('of a push makes just what it touches stale, and only while the plan waits; that plan is another one', () => {
    const items = [anItemState('a', { where: { paths: ['src'] } }), anItemState('b', { where: { paths: ['docs/**'] } })]
    const before = anAgenda(items, { approval: { plan_hash: planHash(anAgenda(items)), wanted_since: 1 } })
    const push: InboxMessage = { kind: 'pushed', commit: 'c'.repeat(40), paths: ['src/shop.py'] }
    const after = drained(before, [push])
    expect(statuses(after)).toEqual(['stale', 'waiting'])
    expect(after.approval?.plan_hash).not.toBe(before.approval?.plan_hash)
    expect(statuses(drained({ ...before, approval: null }, [push]))).toEqual(['waiting', 'waiting'])
    const files = new Map([['a', new Set(['src/other.py'])]])
    expect(drained(before, [push], {}, files).approval).toEqual(before.approval)
  })

  it('of an escalation that was heard before is not heard again, in whichever inbox it comes', () => {
    const once = drained(anAgenda([]), [escalation('k'), escalation('k'), escalation('other')])
    expect(once.heard).toHaveLength(2)
    const { heard: _, ...decided } = once
    expect(drained(decided, [escalation('k')]).heard).toBeUndefined()
  })

  it('that the run is reopened begins anew: without the answer, and without counting what brought nothing before', () => {
    const answer = { text: 'done', events: [], paths: [], findings: [] }
    const items = [anItemState('a', { status: 'ended' }), anItemState('b', { status: 'cancelled' })]
    const after = drained(anAgenda(items, { fruitless: 1, progress: 5, answer }), [{ kind: 'reopened' }])
    expect(statuses(after)).toEqual(['ended', 'waiting'])
    expect(after).toMatchObject({ fruitless: 0, answer: null, heard: [{ kind: 'reopened' }] })
    const rationale = { text: 'no way', events: [], confidence: 1 }
    const blocked = anAgenda([], { bootstrap: { kind: 'block', model: 'm', rationale } })
    expect(drained(blocked, [{ kind: 'reopened' }]).bootstrap).toBeNull()
    expect(after).not.toHaveProperty('progress')
  })

  it('that only wakes the conductor changes nothing', () => {
    const before = anAgenda([anItemState('a')])
    expect(drained(before, [{ kind: 'item_estimated', item_id: 'a' }])).toEqual(before)
  })

  it('is one of the last ten that a decision is told of, however many come', () => {
    const said = Array.from({ length: 30 }, (_, at): InboxMessage => ({ kind: 'said', text: `${at}`, by: 'me' }))
    const { heard = [] } = drained(anAgenda([]), said)
    expect(heard).toHaveLength(10)
    expect(heard.at(-1)).toMatchObject({ text: '29' })
  })
})
