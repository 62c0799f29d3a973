import { describe, expect, it } from 'vitest'
import { newToken, recordId, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { aPlannedItem, anItem, conductedRun, dispatchItems, takeStep } from '#testing/conducted-run.ts'
import { anEvent, anOutcome, aPlannedOperation, endRun, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { runKeys } from './keys.ts'
import { forgetRun } from './retention.ts'

const test = useOpened(testLedger)
const origin = { kind: 'api', id: 'q1' } as const
const [first, second, third] = ['first', 'second', 'third'].map((name) => aPlannedOperation(name))

if (first === undefined || second === undefined || third === undefined) throw new Error('there are three')

async function planned(runId: RunId, id: string, operations: readonly PlannedOperation[], generation = 1) {
  const version = await dispatchItems(test.ledger, runId, anItem(id))
  expect(await test.ledger.plan(runId, aPlannedItem(id, version, operations, generation))).toBe('planned')
  return version
}

const heardOf = async (runId: RunId) => {
  const claimed = await test.ledger.claimStep(runId, { token: newToken(), leaseMs: 0 })
  return claimed.kind === 'claimed' ? claimed.step.inbox : claimed.kind
}

async function eventsOf(runId: RunId, ...names: readonly string[]) {
  const events = await test.ledger.readEvents(runId, { after: 0, limit: 500 })
  return events.filter(({ event }) => names.includes(event))
}

/** Has an ended run begin again, with a conductor. */
async function conductAgain(runId: RunId): Promise<void> {
  const { ledger } = test
  await ledger.reopen(await ledger.getRun(runId), { wanted: {}, origin, command: newToken() })
  expect(await ledger.getRun(runId)).toMatchObject({ status: 'running', phase: 'discovery', conductor: null })
  const set = { conductor: 'open', planned: '1' }
  const move = { from: [{ status: 'running' }], to: { phase: 'execution' }, command: 'plan', set, events: [] } as const
  await ledger.move(runId, move)
}

describe('an item of an agenda', () => {
  it('has its conductor hear what an operation escalates, before it hears that the item has ended', async () => {
    const runId = await conductedRun(test.ledger)
    await planned(runId, 'lint', [first])
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('one was ready')
    const what = { kind: 'security_concern', urgency: 'high', mitigation: 'notify' } as const
    const escalation = { ...what, affected: ['lint'], rationale: 'A key is in the code.', dedup_key: 'k' }
    const head = { phase: 'submission', origin: { kind: 'worker', id: 'w1' } } as const
    const learned = { insight: 'i', confidence: 1, evidence_refs: [], attempt: 1 }
    const events = [
      anEvent({ event: 'learning.reported', ...head, data: learned }),
      anEvent({ event: 'escalation.raised', ...head, data: { ...escalation, attempt: 1 } }),
    ]
    await test.ledger.settle(attempt, 1, { outcome: anOutcome(), events, escalations: [escalation] })
    const [raised] = await eventsOf(runId, 'escalation.raised')
    expect(await heardOf(runId)).toEqual([
      { kind: 'escalation', escalation, seq: raised?.seq },
      { kind: 'item_ended', item_id: 'lint', seq: expect.any(Number) },
    ])
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })

  it('ends once with its last operation, with counts, whatever is sent twice', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const version = await dispatchItems(ledger, runId, anItem('lint'))
    const plan = aPlannedItem('lint', version, [first, second])
    expect(await ledger.plan(runId, plan)).toBe('planned')
    expect(await ledger.plan(runId, plan)).toBe('already')
    const [one, other] = await test.claimReady(runId)
    if (one === undefined || other === undefined) throw new Error('two were ready')
    expect(one.itemId).toBe('lint')
    const well = { outcome: anOutcome({ changeSetId: 'c1', findings: 2 }), events: [] }
    const badly = { outcome: anOutcome({ status: 'failed', errorCode: 'AGENT_004' }), events: [] }
    await ledger.settle(one, 1, well)
    expect(await heardOf(runId)).toEqual([])
    for (const _ of [1, 2]) await ledger.settle(other, 1, badly)
    const heard = await heardOf(runId)
    const [decided, ended, ...more] = await eventsOf(runId, 'agenda.decided', 'item.ended', 'item.blocked')
    expect(more).toEqual([])
    expect(heard).toEqual([{ kind: 'item_ended', item_id: 'lint', seq: ended?.seq }])
    expect(ended?.data).toMatchObject({
      item_id: 'lint',
      operations: 2,
      counts: { succeeded: 1, failed: 1, blocked: 0 },
      faults: { AGENT_004: 1 },
      change_sets: 1,
      findings: 2,
      tokens: 30,
    })
    const [started] = await eventsOf(runId, 'item.started')
    expect(started?.causationSeq).toBe(decided?.seq)
    expect(ended?.causationSeq).toBe(started?.seq)
    const counts = (await ledger.readAgenda(runId))?.counts.get('lint')
    expect(counts).toMatchObject({ planned: 2, open: 0, ended: { succeeded: 1, failed: 1 }, reads: 'what it reads' })
    expect((await ledger.getRun(runId)).phase).toBe('execution')
  })

  it('executes beside another one, and each ends by itself', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const version = await dispatchItems(ledger, runId, anItem('one'), anItem('other'))
    expect(await ledger.plan(runId, aPlannedItem('other', version, [second], 1))).toBe('refused') // the first one comes first
    await ledger.plan(runId, aPlannedItem('one', version, [first]))
    const attempts = await test.claimReady(runId)
    await ledger.plan(runId, aPlannedItem('other', version, [second], 2))
    attempts.push(...(await test.claimReady(runId)))
    const [one, other] = attempts
    if (one === undefined || other === undefined) throw new Error('two are running')
    await ledger.settle(other, 1, { outcome: anOutcome(), events: [] })
    expect(await heardOf(runId)).toMatchObject([{ kind: 'item_ended', item_id: 'other' }])
    await ledger.settle(one, 1, { outcome: anOutcome(), events: [] })
    expect(await heardOf(runId)).toHaveLength(2)
    expect((await ledger.getRun(runId)).conductor).toMatchObject({ kind: 'open', messages: 2, planning: [] })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('of more than one slice ends with the last of all, although those of the first have ended before', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    await planned(runId, 'before', [third])
    const version = await dispatchItems(ledger, runId, anItem('large'))
    const slice = (at: number, operation: PlannedOperation) => {
      const sent = { ...aPlannedItem('large', version, [operation], 2), slice: at, last: at === 1, planHash: 'p' }
      return ledger.plan(runId, sent)
    }
    expect([await slice(0, first), await slice(0, first)]).toEqual(['planned', 'already'])
    expect((await ledger.getRun(runId)).conductor).toMatchObject({ planning: [{ item_id: 'large', generation: 2 }] })
    await test.settleAll(runId)
    expect(await heardOf(runId)).toMatchObject([{ kind: 'item_ended', item_id: 'before' }])
    expect([await slice(1, second), await slice(1, second)]).toEqual(['planned', 'already'])
    await test.settleAll(runId)
    expect(await heardOf(runId)).toHaveLength(2)
    const counts = (await ledger.readAgenda(runId))?.counts.get('large')
    expect(counts).toMatchObject({ planned: 2, open: 0, ended: { succeeded: 2 } })
    expect((await ledger.getRun(runId)).generation).toBe(2)
  })

  it('of which nothing comes ends at once, and one that cannot be planned is blocked with the reason', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const version = await dispatchItems(ledger, runId, anItem('empty'), anItem('wrong'), anItem('counted'))
    await ledger.plan(runId, aPlannedItem('empty', version, []))
    const fault = { error_code: 'INTAKE_006', reason: 'no such agent' }
    const events = [anEvent({ event: 'item.blocked', phase: 'execution', data: { item_id: 'wrong', ...fault } })]
    const wrong = { itemId: 'wrong', version, fault, events }
    expect(await ledger.noteItem(runId, wrong)).toBe('noted')
    expect(await ledger.noteItem(runId, wrong)).toBe('already')
    await ledger.noteItem(runId, { itemId: 'counted', version, reads: 'r', estimate: { operations: 3, tokens: 400 } })
    expect(await heardOf(runId)).toMatchObject([
      { kind: 'item_ended', item_id: 'empty' },
      { kind: 'item_ended', item_id: 'wrong' },
      { kind: 'item_estimated', item_id: 'counted' },
    ])
    const counts = (await ledger.readAgenda(runId))?.counts
    expect(counts?.get('wrong')?.fault).toEqual(fault)
    expect(counts?.get('counted')).toMatchObject({ planned: 0, estimate: { operations: 3, tokens: 400 }, reads: 'r' })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('ends when its seconds are over, with what runs: what has not started is skipped, a slice at a time', async () => {
    const { ledger, redis, namespace } = test
    const runId = await conductedRun(ledger)
    const version = await dispatchItems(ledger, runId, anItem('late', { budget: { seconds: 3_600 } }))
    const operations = Array.from({ length: 450 }, (_, at) => aPlannedOperation(`f${at}`))
    await ledger.plan(runId, aPlannedItem('late', version, operations))
    const { taken } = await ledger.dispatch(runId, 2)
    const [job] = taken
    if (job === undefined) throw new Error('two were ready')
    const claimed = await ledger.claim({ runId, ...job }, newToken())
    expect(await ledger.sweep(runId)).toMatchObject({ left: 0 })
    const { run } = runKeys(namespace, runId)
    expect(JSON.parse((await redis.hget(run, 'deadlines')) ?? '')).toMatchObject({ late: { looked_at: 0 } })
    await redis.hset(run, 'deadlines', JSON.stringify({ late: { at: 1, looked_at: 0 } }))
    const lefts = [await ledger.sweep(runId), await ledger.sweep(runId), await ledger.sweep(runId)]
    expect(lefts.map(({ left }) => left)).toEqual([250, 50, 0])
    expect((await ledger.getRun(runId)).counts).toMatchObject({ ready: 0, dispatched: 0, running: 1, skipped: 449 })
    if (claimed.kind !== 'claimed') throw new Error('it was dispatched')
    await ledger.settle(claimed.attempt, 1, { outcome: anOutcome(), events: [] })
    expect(await heardOf(runId)).toMatchObject([{ kind: 'item_ended', item_id: 'late' }])
    const [ended] = await eventsOf(runId, 'item.ended')
    expect(ended?.data).toMatchObject({ counts: { succeeded: 1, skipped: 449 }, faults: { LIMIT_004: 449 }, left: 449 })
    expect(await redis.hget(run, 'deadlines')).toBe('{}')
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('has nothing tried again when its seconds are over, and shares with others what one sweep looks at', async () => {
    const { ledger, redis, namespace } = test
    const runId = await conductedRun(ledger)
    await planned(runId, 'late', [first, second])
    const [handedBack, runs] = await test.claimReady(runId)
    if (handedBack === undefined || runs === undefined) throw new Error('two were ready')
    const operations = Array.from({ length: 250 }, (_, at) => aPlannedOperation(`f${at}`))
    await planned(runId, 'other', operations, 2)
    await ledger.release(handedBack, 1, { reason: 'drain', delayMs: 60_000, events: [] })
    const over = { at: 1, looked_at: 0 }
    await redis.hset(runKeys(namespace, runId).run, 'deadlines', JSON.stringify({ late: over, other: over }))
    const lefts = [await ledger.sweep(runId), await ledger.sweep(runId)]
    expect(lefts.map(({ left }) => left)).toEqual([52, 0])
    expect((await ledger.getRun(runId)).counts).toMatchObject({ ready: 0, running: 1, skipped: 251 })
    await ledger.release(runs, 1, { reason: 'drain', events: [] })
    expect((await ledger.dispatch(runId, 1)).taken).toEqual([])
    const ended = await eventsOf(runId, 'item.ended')
    const late = ended.find(({ data }) => data['item_id'] === 'late')
    expect(late?.data).toMatchObject({ counts: { skipped: 2 }, faults: { LIMIT_004: 2 }, left: 2 })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('that does a work once more makes its next record, of which alone it counts', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    await planned(runId, 'one', [first, second])
    for (const [at, attempt] of (await test.claimReady(runId)).entries())
      await ledger.settle(attempt, 1, { outcome: anOutcome({ changeSetId: `c${at}` }), events: [] })
    const { operationId } = first
    const repeats = { operationId, supersedes: operationId, because: 'asked' as const, changeSetIds: ['c0'] }
    const countsOf = async (id: string) => (await ledger.readAgenda(runId))?.counts.get(id)
    expect(await countsOf('one')).toMatchObject({ change_sets: 2 })
    await planned(runId, 'again', [{ ...first, operationId: recordId(operationId, 2), repeats }, third], 2)
    await test.settleAll(runId)
    expect(await countsOf('one')).toMatchObject({ change_sets: 1, ended: { succeeded: 2 } })
    expect(await countsOf('again')).toMatchObject({ planned: 2, ended: { succeeded: 2 } })
    expect((await ledger.getRun(runId)).counts.succeeded).toBe(3)
    expect((await ledger.getRun(runId)).generation).toBe(2)
    await planned(runId, 'one', [], 3)
    expect((await ledger.readAgenda(runId))?.counts.get('one')).toMatchObject({ planned: 0, ended: { succeeded: 0 } })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('of a run that is stopped ends with what was cancelled, and is shown so', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    await planned(runId, 'one', [first])
    await dispatchItems(ledger, runId, anItem('later'))
    await ledger.cancel(runId, { reason: 'enough', origin })
    expect(await heardOf(runId)).toBe('over')
    await ledger.endSlice(runId, 0)
    await endRun(ledger, runId, 'cancelled')
    expect((await eventsOf(runId, 'item.ended'))[0]?.data['counts']).toMatchObject({ cancelled: 1 })
    const agenda = await ledger.readAgenda(runId)
    expect(agenda?.state.items.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
    expect((await ledger.verify(runId)).violations).toEqual([])
    await conductAgain(runId)
    expect(await heardOf(runId)).toMatchObject([{ kind: 'item_ended', item_id: 'one' }, { kind: 'reopened' }])
    const { conductor, generation } = await ledger.getRun(runId)
    const [next] = conductor?.kind === 'open' ? conductor.planning : []
    expect(next?.item_id).toBe('later')
    const later = aPlannedItem('later', next?.version ?? 0, [second], generation + 1)
    expect(await ledger.plan(runId, later)).toBe('planned')
    await test.settleAll(runId)
    expect((await ledger.verify(runId)).violations).toEqual([])
  })
})

describe('a run with an objective', () => {
  it('that is begun again is decided on by its conductor, who hears of it, and leaves nothing when it is forgotten', async () => {
    const { ledger, redis, namespace } = test
    const runId = await conductedRun(ledger)
    await planned(runId, 'one', [first])
    await test.settleAll(runId)
    await takeStep(ledger, runId, { close: { kind: 'blocked', code: 'POLICY_001', reason: 'no way on' } })
    await endRun(ledger, runId, 'blocked')
    await conductAgain(runId)
    const [reopened] = await eventsOf(runId, 'run.reopened')
    expect(await heardOf(runId)).toEqual([{ kind: 'reopened', seq: reopened?.seq }])
    await takeStep(ledger, runId, { close: { kind: 'done' } })
    await endRun(ledger, runId)
    expect(await forgetRun({ redis, namespace }, await ledger.getRun(runId))).toBe('forgotten')
    expect(await redis.keys(`${namespace}:{${runId}}:*`)).toEqual([])
  })
})
