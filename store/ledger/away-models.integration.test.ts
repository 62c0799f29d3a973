import { describe, expect, it } from 'vitest'
import { anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import type { RunId } from '#domain/ids.ts'
import { useOpened } from '#testing/use-opened.ts'

const test = useOpened(testLedger)

const lintAway = { model: 'default', since: 1_700_000_000_000, bundles: ['lint'] }
const docsAway = { model: 'docs-lora', since: 1_700_000_000_000, bundles: ['docstring'] }

async function verified(runId: RunId) {
  expect((await test.ledger.verify(runId)).violations).toEqual([])
  return test.ledger.getRun(runId)
}

describe('operations whose model is away', () => {
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
})

async function end(runId: RunId, operationId: string): Promise<void> {
  const answer = await test.ledger.claim({ runId, operationId, dispatch: 1 }, crypto.randomUUID())
  if (answer.kind !== 'claimed') throw new Error(`the claim of ${operationId} was answered ${answer.kind}`)
  await test.ledger.settle(answer.attempt, 1, { outcome: anOutcome(), events: [] })
}
