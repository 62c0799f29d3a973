import { beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '#domain/ids.ts'
import { aNewRun, anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { Attempt } from './attempt.ts'
import type { Ledger } from './ledger.ts'

let ledger: Ledger
const test = useOpened(testLedger)
beforeAll(async () => {
  ledger = test.ledger
})

const root = aPlannedOperation('root')
const child = aPlannedOperation('child', {}, [root])

async function firstAttempt(runId: string): Promise<Attempt> {
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  return attempt
}

describe('an operation that does not go well', () => {
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
})

describe('plan and dispatch', () => {
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
