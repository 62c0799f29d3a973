import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '#domain/ids.ts'
import {
  anEvent,
  aNewRun,
  anOutcome,
  aPlannedOperation,
  testLedger,
  type TestLedger,
} from '#testing/open-test-ledger.ts'
import type { Attempt } from './attempt.ts'
import type { Ledger } from './ledger.ts'

let test: TestLedger
let ledger: Ledger
beforeAll(async () => {
  test = await testLedger()
  ledger = test.ledger
})
afterAll(() => test.close())

const root = aPlannedOperation('root')
const child = aPlannedOperation('child', {}, [root])
const grandchild = aPlannedOperation('grandchild', {}, [child])

async function firstAttempt(runId: string): Promise<Attempt> {
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  return attempt
}

async function statuses(runId: string): Promise<Record<string, string>> {
  const { operations } = await ledger.listOperations(runId, { limit: 1_000 })
  return Object.fromEntries(operations.map((operation) => [operation.node.name, operation.status]))
}

async function eventNames(runId: string): Promise<string[]> {
  const events = await ledger.readEvents(runId, { after: 0, limit: 1_000 })
  return events.map(({ event }) => event)
}

describe('an operation that goes well', () => {
  it('lets its dependents start, and the last one brings the run to review', async () => {
    const runId = await test.executing([root, child])
    const first = await firstAttempt(runId)
    expect(await statuses(runId)).toEqual({ root: 'running', child: 'pending' })
    expect(await ledger.append(first, 1, [anEvent()])).toEqual({ kind: 'ok', stopRequested: false })
    expect(await ledger.settle(first, 2, { outcome: anOutcome(), events: [anEvent()] })).toEqual({ kind: 'settled' })
    const second = await firstAttempt(runId)
    expect(second.node.name).toBe('child')
    await ledger.settle(second, 1, { outcome: anOutcome({ status: 'unchanged' }), events: [] })

    const run = await ledger.getRun(runId)
    expect(run).toMatchObject({
      status: 'running',
      phase: 'review',
      counts: { succeeded: 1, unchanged: 1, running: 0 },
    })
    expect(await eventNames(runId)).toEqual([
      'run.accepted',
      'run.started',
      'run.planned',
      'operation.queued',
      'operation.started',
      'turn.finished',
      'turn.finished',
      'operation.ended',
      'operation.queued',
      'operation.started',
      'operation.ended',
    ])
    expect(await ledger.verify(runId)).toEqual({ violations: [], events: 11, operations: 2 })
  })

  it('gives its events numbers, the time they happened and the names of the operation', async () => {
    const runId = await test.executing([root])
    const attempt = await firstAttempt(runId)
    const events = [anEvent({ ageMs: 5_000, data: { turn: 1 } }), anEvent({ durationMs: 3, toolName: 'x' })]
    await ledger.append(attempt, 1, events)
    const [older, newer] = await ledger.readEvents(runId, { after: 5, limit: 10 })
    expect(older).toMatchObject({ seq: 6, runId, correlationId: runId, data: { turn: 1 }, category: 'worker_progress' })
    expect(newer).toMatchObject({
      operationId: root.operationId,
      nodeId: root.node.nodeId,
      agent: 'lint',
      toolName: 'x',
    })
    expect((newer?.ts ?? 0) - (older?.ts ?? 0)).toBe(5_000)
  })
})

describe('an operation that does not go well', () => {
  it('has everything behind it skipped, each naming its cause, and each with a result', async () => {
    const runId = await test.executing([root, child, grandchild, aPlannedOperation('other')])
    const attempts = await test.claimReady(runId)
    const failed = attempts.find(({ node }) => node.name === 'root')
    if (failed === undefined) throw new Error('root was not claimed')
    const outcome = anOutcome({ status: 'failed', errorCode: 'AGENT_004', phase: 'model', reason: 'too many turns' })
    await ledger.settle(failed, 1, { outcome, events: [] })

    expect(await statuses(runId)).toEqual({ root: 'failed', child: 'skipped', grandchild: 'skipped', other: 'running' })
    const events = await ledger.readEvents(runId, { after: 7, limit: 10 })
    expect(events.map(({ event, phase, errorCode }) => [event, phase, errorCode])).toEqual([
      ['operation.failed', 'model', 'AGENT_004'],
      ['operation.ended', 'model', 'AGENT_004'],
      ['operation.skipped', 'execution', undefined],
      ['operation.skipped', 'execution', undefined],
    ])
    expect(events.map(({ data }) => data['cause'])).toEqual([undefined, undefined, root.operationId, child.operationId])
    expect(await ledger.relayResults(runId)).toBe(3)
    expect(await ledger.getOperation(runId, child.operationId)).toMatchObject({ outcome: { status: 'skipped' } })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('stops nothing when the run is to continue', async () => {
    const runId = await test.executing([root, child], { errorPolicy: 'continue' })
    await ledger.settle(await firstAttempt(runId), 1, { outcome: anOutcome({ status: 'blocked' }), events: [] })
    expect(await statuses(runId)).toEqual({ root: 'blocked', child: 'ready' })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('skips more dependents than one step may touch in several, and the run ends all the same', async () => {
    const many = Array.from({ length: 450 }, (_, index) => aPlannedOperation(`many${index}`, {}, [root]))
    const runId = await test.executing([root, ...many])
    await ledger.settle(await firstAttempt(runId), 1, { outcome: anOutcome({ status: 'failed' }), events: [] })
    expect((await ledger.getRun(runId)).counts.skipped).toBe(200)
    expect((await ledger.dispatch(runId, 10)).open).toBe(50)
    expect((await ledger.dispatch(runId, 10)).open).toBe(0)
    expect((await ledger.getRun(runId)).phase).toBe('review')
    expect((await ledger.verify(runId)).violations).toEqual([])
  })
})

describe('claim', () => {
  it('refuses a dispatch that is not the current one, and an unknown run', async () => {
    const runId = await test.executing([root])
    await ledger.dispatch(runId, 1)
    const job = { runId, operationId: root.operationId, dispatch: 2 }
    expect(await ledger.claim(job, newToken())).toEqual({ kind: 'gone' })
    expect(await ledger.claim({ ...job, runId: 'r00000000' }, newToken())).toEqual({ kind: 'gone' })
  })

  it('sends a second worker away while another runs the operation', async () => {
    const runId = await test.executing([root])
    await ledger.dispatch(runId, 1)
    const job = { runId, operationId: root.operationId, dispatch: 1 }
    await ledger.claim(job, 'first')
    expect(await ledger.claim(job, 'second')).toEqual({ kind: 'busy' })
  })
})

describe('plan and dispatch', () => {
  it('gives out what runs first, lower priority numbers before higher, then in the order of the plan', async () => {
    const runId = await test.executing([
      aPlannedOperation('late', { priority: 20 }),
      aPlannedOperation('b', { priority: 5 }),
      aPlannedOperation('a', { priority: 5 }),
    ])
    const { taken, ...counts } = await ledger.dispatch(runId, 2)
    const names = await Promise.all(taken.map((o) => ledger.getOperation(runId, o.operationId)))
    expect(names.map(({ node }) => node.name)).toEqual(['b', 'a'])
    expect(counts).toEqual({ ready: 1, dispatched: 2, running: 0, open: 3, traceparent: null })
  })

  it('gives out nothing before the run is executing', async () => {
    const run = aNewRun()
    await ledger.createRun(run)
    await ledger.plan(run.runId, { slice: 0, operations: [root], last: false })
    expect((await ledger.dispatch(run.runId, 5)).taken).toEqual([])
  })

  it('refuses a plan that waits for what is not planned, leaving no trace', async () => {
    const run = aNewRun()
    await ledger.createRun(run)
    const slice = { slice: 0, operations: [aPlannedOperation('a'), child], last: true }
    await expect(ledger.plan(run.runId, slice)).rejects.toThrow(`unknown_dependency,${root.operationId}`)
    expect((await ledger.listOperations(run.runId, { limit: 10 })).operations).toEqual([])
  })

  it('takes dependencies on operations of an earlier slice', async () => {
    const run = aNewRun()
    await ledger.createRun(run)
    await ledger.plan(run.runId, { slice: 0, operations: [root], last: false })
    await ledger.plan(run.runId, { slice: 1, operations: [child], last: true })
    expect(await ledger.getOperation(run.runId, child.operationId)).toMatchObject({ dependenciesLeft: 1 })
    await expect(ledger.plan(run.runId, { slice: 2, operations: [], last: true })).rejects.toThrow('out_of_order')
  })
})
