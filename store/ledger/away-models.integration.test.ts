import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aCost, anOutcome, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import type { RunId } from '#domain/ids.ts'

let test: TestLedger
beforeAll(async () => {
  test = await testLedger()
})
afterAll(() => test.close())

const lintAway = { model: 'default', since: 1_700_000_000_000, bundles: ['lint'] }
const docsAway = { model: 'docs-lora', since: 1_700_000_000_000, bundles: ['docstring'] }

async function verified(runId: RunId) {
  expect((await test.ledger.verify(runId)).violations).toEqual([])
  return test.ledger.getRun(runId)
}

async function namesOf(runId: RunId): Promise<string[]> {
  const events = await test.ledger.readEvents(runId, { after: 0, limit: 10_000 })
  return events.map(({ event }) => event).filter((name) => name.startsWith('models.') || name === 'run.waiting')
}

describe('operations whose model is away', () => {
  it('are held, others go on, and the run waits only when nothing of it can move', async () => {
    const [lint, other] = [aPlannedOperation('a'), aPlannedOperation('b', { bundle: 'docstring' })]
    const mechanical = aPlannedOperation('c', { work: 'mechanical' })
    const runId = await test.executing([lint, other, mechanical])
    await test.ledger.setAway(runId, [lintAway])
    const { taken } = await test.ledger.dispatch(runId, 10)
    expect(taken.map(({ operationId }) => operationId)).toEqual([other.operationId, mechanical.operationId])
    expect(await verified(runId)).toMatchObject({ status: 'running', away: [lintAway] })
    for (const one of taken) await end(runId, one.operationId)
    expect(await verified(runId)).toMatchObject({ status: 'waiting', counts: { ready: 1, succeeded: 2 } })
    await test.ledger.setAway(runId, [])
    expect((await test.ledger.dispatch(runId, 10)).taken).toEqual([])
    expect((await test.ledger.dispatch(runId, 10)).taken).toMatchObject([{ operationId: lint.operationId }])
    expect(await verified(runId)).toMatchObject({ status: 'running', away: [] })
    expect(await namesOf(runId)).toEqual(['models.away', 'run.waiting', 'models.back'])
  })

  it('take no room of the window: what comes after them starts soon, however small the window is', async () => {
    const held = Array.from({ length: 300 }, (_, at) => aPlannedOperation(`held${at}`))
    const free = Array.from({ length: 4 }, (_, at) => aPlannedOperation(`free${at}`, { bundle: 'docstring' }))
    const runId = await test.executing([...held, ...free])
    await test.ledger.setAway(runId, [lintAway])
    const limits = { window: 2 }
    expect((await test.ledger.dispatch(runId, 2, limits)).taken).toEqual([])
    const { taken } = await test.ledger.dispatch(runId, 2, limits)
    expect(taken.map(({ operationId }) => operationId)).toEqual(free.slice(0, 2).map((one) => one.operationId))
    expect((await test.ledger.dispatch(runId, 2, limits)).taken).toEqual([])
    for (const one of taken) await end(runId, one.operationId)
    for (const one of (await test.ledger.dispatch(runId, 2, limits)).taken) await end(runId, one.operationId)
    expect(await verified(runId)).toMatchObject({ status: 'waiting', counts: { ready: 300, succeeded: 4 } })
  })

  it('of two models wake in their order with the one that is back, many at a time', async () => {
    const operations = Array.from({ length: 450 }, (_, at) =>
      aPlannedOperation(`f${at}`, at % 2 === 0 ? {} : { bundle: 'docstring' }),
    )
    const runId = await test.executing(operations)
    await test.ledger.setAway(runId, [lintAway, docsAway])
    await test.ledger.dispatch(runId, 1000)
    expect(await verified(runId)).toMatchObject({ status: 'waiting', counts: { ready: 450 } })
    await test.ledger.setAway(runId, [docsAway])
    const taken = []
    for (let round = 0; round < 8; round++) taken.push(...(await test.ledger.dispatch(runId, 1000)).taken)
    const lint = operations.filter(({ bundle }) => bundle === 'lint').map(({ operationId }) => operationId)
    expect(taken.map(({ operationId }) => operationId)).toEqual(lint)
    await verified(runId)
  })

  it('end as blocked when it was away for too long, and their dependents are skipped', async () => {
    const first = aPlannedOperation('first')
    const runId = await test.executing([first, aPlannedOperation('second', {}, [first])])
    await test.ledger.setAway(runId, [lintAway])
    await test.ledger.dispatch(runId, 10)
    await test.ledger.blockHeld(runId, { bundle: 'lint', reason: 'its model was away for 24 h' })
    expect(await verified(runId)).toMatchObject({ phase: 'review', counts: { blocked: 1, skipped: 1 } })
    const { outcome } = await test.ledger.getOperation(runId, first.operationId)
    expect(outcome).toMatchObject({ status: 'blocked', errorCode: 'AGENT_002', reason: 'its model was away for 24 h' })
  })
})

describe('an attempt that is handed back for its model', () => {
  it('is continued from its record by the next, which knows how often that happened', async () => {
    const one = aPlannedOperation('one')
    const runId = await test.executing([one])
    const first = await attemptOf(runId, one.operationId)
    expect(first).toMatchObject({ resumes: null, modelFaults: 0, busyFaults: 0 })
    const resume = { recordHash: 'the-record', spent: aCost }
    await test.ledger.release(first, 1, { reason: 'models', resume, modelFaults: 2, busyFaults: 7, events: [] })
    const second = await attemptOf(runId, one.operationId)
    const knows = { modelFaults: 2, busyFaults: 7 }
    expect(second).toMatchObject({ resumes: { recordHash: 'the-record', answer: null }, ...knows })
    await test.ledger.release(second, 1, { reason: 'drain', events: [] })
    expect(await attemptOf(runId, one.operationId)).toMatchObject({ resumes: { recordHash: 'the-record' }, ...knows })
    await verified(runId)
  })
})

async function attemptOf(runId: RunId, operationId: string) {
  const { taken } = await test.ledger.dispatch(runId, 10)
  const job = taken.find((one) => one.operationId === operationId)
  const answer = await test.ledger.claim({ runId, operationId, dispatch: job?.dispatch ?? 0 }, crypto.randomUUID())
  if (answer.kind !== 'claimed') throw new Error(`the claim of ${operationId} was answered ${answer.kind}`)
  return answer.attempt
}

async function end(runId: RunId, operationId: string): Promise<void> {
  const answer = await test.ledger.claim({ runId, operationId, dispatch: 1 }, crypto.randomUUID())
  if (answer.kind !== 'claimed') throw new Error(`the claim of ${operationId} was answered ${answer.kind}`)
  await test.ledger.settle(answer.attempt, 1, { outcome: anOutcome(), events: [] })
}
