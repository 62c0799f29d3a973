import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import {
  anEvent,
  aNewRun,
  anOutcome,
  aPlannedOperation,
  testLedger,
  type TestLedger,
} from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { runKeys, stopsChannel } from './keys.ts'
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
const request = { reason: 'not wanted', origin: { kind: 'human', id: 'me' } } as const

async function statuses(runId: RunId): Promise<Record<string, string>> {
  const { operations } = await ledger.listOperations(runId, { limit: 100 })
  return Object.fromEntries(operations.map(({ node, status }) => [node.name, status]))
}

/** Ends the operations that have not started, slice by slice; returns how many are still open. */
async function endAll(runId: RunId): Promise<number | undefined> {
  for (let first = 0; ;) {
    const slice = await ledger.endSlice(runId, first)
    if (slice?.next === undefined) return slice?.open
    first = slice.next
  }
}

describe('a cancelled run', () => {
  it('starts nothing more, ends what has not started and tells who runs something', async () => {
    const runId = await test.executing([root, child, aPlannedOperation('other'), aPlannedOperation('third')])
    const { taken } = await ledger.dispatch(runId, 2)
    const [first, second] = taken
    if (first === undefined || second === undefined) throw new Error('two were ready')
    const claimed = await ledger.claim({ runId, ...first }, 'token')
    if (claimed.kind !== 'claimed') throw new Error('it was not claimed')
    expect(await ledger.cancel(runId, request)).toBe('stopping')
    expect(await ledger.getRun(runId)).toMatchObject({
      stop: { kind: 'request', reason: 'not wanted', by: 'human/me', letsFinish: false },
    })

    expect((await ledger.dispatch(runId, 5)).taken).toEqual([])
    expect(await ledger.claim({ runId, ...second }, 'other')).toEqual({ kind: 'gone' })
    expect(await endAll(runId)).toBe(1)
    expect(await statuses(runId)).toEqual({
      root: 'running',
      child: 'cancelled',
      other: 'cancelled',
      third: 'cancelled',
    })
    expect(await ledger.append(claimed.attempt, 1, [])).toEqual({ kind: 'ok', stopRequested: true })
    await ledger.settle(claimed.attempt, 2, { outcome: anOutcome({ status: 'cancelled' }), events: [] })
    expect(await endAll(runId)).toBe(0)
    expect(await ledger.getRun(runId)).toMatchObject({ phase: 'execution', counts: { cancelled: 4 } })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('publishes that it shall stop', async () => {
    const subscriber = test.redis.duplicate()
    const heard: string[] = []
    subscriber.on('message', (_channel: string, message: string) => void heard.push(message))
    await subscriber.subscribe(stopsChannel(test.namespace))
    const runId = await test.executing([root])
    await ledger.cancel(runId, request)
    await until(() => heard, { holds: ({ length }) => length > 0 })
    expect(heard).toEqual([runId])
    await subscriber.quit()
  })

  it('ends operations that are handed back or lost instead of making them ready', async () => {
    const runId = await test.executing([root, aPlannedOperation('other')])
    const [released, lost] = await test.claimReady(runId)
    if (released === undefined || lost === undefined) throw new Error('two were ready')
    await ledger.cancel(runId, request)
    await ledger.release(released, 1, { reason: 'drain', events: [anEvent()] })
    await test.redis.zadd(runKeys(test.namespace, runId).leases, 1, lost.operationId)
    await ledger.sweep(runId)
    expect(await statuses(runId)).toEqual({ root: 'cancelled', other: 'cancelled' })
    expect(await ledger.relayResults(runId)).toBe(2)
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('takes no more of a plan that was being made', async () => {
    const run = aNewRun()
    await ledger.createRun(run)
    await ledger.plan(run.runId, { slice: 0, operations: [root], last: false })
    await ledger.cancel(run.runId, request)
    expect(await ledger.plan(run.runId, { slice: 1, operations: [child], last: true })).toBe('refused')
    expect(await endAll(run.runId)).toBe(0)
    expect(await statuses(run.runId)).toEqual({ root: 'cancelled' })
  })

  it('is ended in bounded slices, of which each may come twice', async () => {
    const runId = await test.executing(Array.from({ length: 450 }, (_, at) => aPlannedOperation(`f${at}`)))
    await ledger.cancel(runId, request)
    expect(await ledger.endSlice(runId, 0)).toEqual({ next: 200, open: 250 })
    const { seq } = await ledger.getRun(runId)
    expect(await ledger.endSlice(runId, 0)).toEqual({ next: 200, open: 250 })
    expect((await ledger.getRun(runId)).seq).toBe(seq)
    expect(await endAll(runId)).toBe(0)
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('cannot be one that has ended, goes on, or is not there', async () => {
    const runId = await test.executing([root])
    expect(await ledger.endSlice(runId, 0)).toBeUndefined()
    const events = [anEvent({ event: 'run.failed', phase: 'execution' })]
    const end = { from: [{ status: 'running' }], to: { status: 'failed' }, command: 'x', events } as const
    expect(await ledger.move(runId, end)).toBe('open')
    await test.settleAll(runId)
    expect(await ledger.move(runId, end)).toBe('moved')
    expect(await ledger.cancel(runId, request)).toBe('ended')
    await expect(ledger.cancel('r00000000', request)).rejects.toMatchObject({ code: 'RUN_001' })
  })
})

describe('a run that was cancelled, whose running operations may finish', () => {
  it('starts nothing more, and keeps what they come to', async () => {
    const runId = await test.executing([root, child, aPlannedOperation('other'), aPlannedOperation('third')])
    const { taken } = await ledger.dispatch(runId, 2)
    const [first, second] = taken
    if (first === undefined || second === undefined) throw new Error('two were ready')
    const claimed = await ledger.claim({ runId, ...first }, 'token')
    if (claimed.kind !== 'claimed') throw new Error('it was not claimed')
    expect(await ledger.cancel(runId, { ...request, letFinish: true })).toBe('stopping')
    expect(await ledger.getRun(runId)).toMatchObject({ stop: { reason: 'not wanted', letsFinish: true } })
    expect(await endAll(runId)).toBe(1)
    expect(await ledger.claim({ runId, ...second }, 'other')).toEqual({ kind: 'gone' })
    expect(await ledger.append(claimed.attempt, 1, [anEvent()])).toEqual({ kind: 'ok', stopRequested: false })
    const settled = await ledger.settle(claimed.attempt, 2, { outcome: anOutcome(), events: [] })
    expect(settled).toEqual({ kind: 'settled' })
    expect(await endAll(runId)).toBe(0)
    expect(await statuses(runId)).toEqual({
      root: 'succeeded',
      child: 'cancelled',
      other: 'cancelled',
      third: 'cancelled',
    })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('stops them after all when it is cancelled again, for the reason given first', async () => {
    const runId = await test.executing([root])
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('one was ready')
    await ledger.cancel(runId, { ...request, letFinish: true })
    expect(await ledger.append(attempt, 1, [])).toMatchObject({ stopRequested: false })
    expect(await ledger.cancel(runId, { ...request, reason: 'at once' })).toBe('stopping')
    expect(await ledger.cancel(runId, { ...request, letFinish: true })).toBe('stopping')
    expect(await ledger.append(attempt, 2, [])).toMatchObject({ stopRequested: true })
    expect(await ledger.getRun(runId)).toMatchObject({ stop: { reason: 'not wanted', letsFinish: false } })
  })
})

describe('the policy stop_run', () => {
  const settled = async (runId: RunId, status: 'failed' | 'unchanged') => {
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('nothing was ready')
    await ledger.settle(attempt, 1, { outcome: anOutcome({ status }), events: [] })
    return attempt.operationId
  }
  const plan: PlannedOperation[] = [root, child]

  it('stops the run with the first operation that fails', async () => {
    const runId = await test.executing([...plan, aPlannedOperation('late', { priority: 50 }, [child])], {
      errorPolicy: 'stop_run',
    })
    const operationId = await settled(runId, 'failed')
    expect(await ledger.getRun(runId)).toMatchObject({ stop: { kind: 'policy', operationId } })
    expect(await endAll(runId)).toBe(0)
    const { root: first, ...others } = await statuses(runId)
    expect(first).toBe('failed')
    expect(Object.values(others).every((status) => ['skipped', 'cancelled'].includes(status))).toBe(true)
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('lets a run go on in which all end well', async () => {
    const runId = await test.executing(plan, { errorPolicy: 'stop_run' })
    await settled(runId, 'unchanged')
    expect(await ledger.getRun(runId)).toMatchObject({ stop: null })
    await settled(runId, 'unchanged')
    expect(await ledger.getRun(runId)).toMatchObject({ phase: 'review' })
  })
})
