import { beforeAll, describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { anEvent, aNewRun, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { Ledger } from './ledger.ts'

let ledger: Ledger
const test = useOpened(testLedger)
beforeAll(async () => {
  ledger = test.ledger
})

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
  it('stops them after all when it is cancelled again, for the reason given first', async () => {
    const runId = await test.executing([root])
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('one was ready')
    await ledger.cancel(runId, { ...request, letFinish: true })
    expect(await ledger.append(attempt, 1, { events: [] })).toMatchObject({ stopRequested: false })
    expect(await ledger.cancel(runId, { ...request, reason: 'at once' })).toBe('stopping')
    expect(await ledger.cancel(runId, { ...request, letFinish: true })).toBe('stopping')
    expect(await ledger.append(attempt, 2, { events: [] })).toMatchObject({ stopRequested: true })
    expect(await ledger.getRun(runId)).toMatchObject({ stop: { reason: 'not wanted', letsFinish: false } })
  })
})
