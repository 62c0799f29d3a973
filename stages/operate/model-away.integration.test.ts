import { describe, expect, it } from 'vitest'
import { ModelUnavailable } from '#domain/error.ts'
import { newToken } from '#domain/ids.ts'
import { openModelPool } from '#models/model-pool.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench, type OperationBench, type Planned } from './operation-bench.fixture.ts'
import { runOperation, type OperationDeps } from './run-operation.ts'

const never = new AbortController().signal
const turnedAway = () => Promise.reject(new ModelUnavailable('answered 429', { kind: 'busy' }))
const failedForModel = { status: 'failed', errorCode: 'AGENT_002', phase: 'model', turns: 0 }
const source = 'def shelf(row):\n    return f"shelf"\n'

describe('an operation whose model is away', () => {
  const bench = useOpened(openOperationBench)

  it('is handed back while no model server says which model it has', async () => {
    const planned = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    const endpoints = [{ url: 'http://127.0.0.1:1/v1' }]
    const model = openModelPool({ endpoints, requestTimeoutMs: 1000, retryBudgetMs: 0, maxInFlight: 1 })
    const modelSettings = async (_asked: unknown, signal: AbortSignal) => ({
      model: await model.firstModel(signal),
      temperature: 0,
      toolChoice: 'required' as const,
    })
    await runOperation(planned.job, { ...bench.deps, model, modelSettings }, never)
    await model.close()
    expect(await bench.operation(planned)).toMatchObject({ status: 'ready', outcome: null })
    const events = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 1000 })
    expect(events.at(-1)).toMatchObject({ event: 'operation.retried', data: { reason: 'models' } })
  })

  it('goes on from its last turn when its model is back, without paying one twice', async () => {
    const planned = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    const usual = await turnsOf(bench, await bench.planned(await bench.bundle('lint'), source, 'shelf'))
    expect(usual).toBeGreaterThan(1)
    let answered = 0
    let { job } = planned
    for (let attempt = 1; attempt <= usual; attempt++) {
      const goOn = attempt === usual
      const complete: OperationDeps['model']['complete'] = async (request, signal) => {
        if (answered >= attempt && !goOn) throw new ModelUnavailable('all are down', { isAway: true })
        answered += 1
        return bench.deps.model.complete(request, signal)
      }
      await runOperation(job, { ...bench.deps, model: { complete } }, never)
      if (!goOn) job = await dispatchedAgain(bench, planned)
    }
    const operation = await bench.operation(planned)
    expect(operation).toMatchObject({ status: 'succeeded', attempt: usual, outcome: { turns: usual } })
    expect(answered).toBe(usual)
    expect((await bench.record(operation)).replies).toHaveLength(usual)
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it('fails with AGENT_002 when its own request breaks the model again and again', async () => {
    const planned = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    const complete = () => Promise.reject(new ModelUnavailable('reset', { kind: 'doubtful', isAway: true }))
    let { job } = planned
    for (let tries = 1; tries <= 5; tries++) {
      await runOperation(job, { ...bench.deps, model: { complete } }, never)
      job = await dispatchedAgain(bench, planned)
    }
    await runOperation(job, { ...bench.deps, model: { complete } }, never)
    expect(await bench.operation(planned)).toMatchObject({ attempt: 6, outcome: failedForModel })
  })

  it('is not to blame for servers that are busy, however often they turn it away', async () => {
    const planned = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    let { job } = planned
    for (let tries = 1; tries <= 8; tries++) {
      await runOperation(job, { ...bench.deps, model: { complete: turnedAway } }, never)
      job = await dispatchedAgain(bench, planned)
    }
    await runOperation(job, bench.deps, never)
    expect(await bench.operation(planned)).toMatchObject({ status: 'succeeded', attempt: 9 })
  })

  it('fails with AGENT_002 when busy servers have turned it away for about a day', async () => {
    const planned = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    const claimed = await bench.ledger.claim(planned.job, newToken())
    if (claimed.kind !== 'claimed') throw new Error(claimed.kind)
    await bench.ledger.release(claimed.attempt, 1, { reason: 'models', busyFaults: 1000, events: [] })
    const job = await dispatchedAgain(bench, planned)
    await runOperation(job, { ...bench.deps, model: { complete: turnedAway } }, never)
    expect(await bench.operation(planned)).toMatchObject({ attempt: 2, outcome: failedForModel })
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })
})

async function turnsOf(bench: OperationBench, planned: Planned): Promise<number> {
  await runOperation(planned.job, bench.deps, never)
  return (await bench.operation(planned)).outcome?.turns ?? 0
}

async function dispatchedAgain(bench: OperationBench, { runId }: Planned): Promise<Planned['job']> {
  const [taken] = await until(async () => (await bench.ledger.dispatch(runId, 1)).taken, {
    holds: ({ length }) => length > 0,
  })
  if (taken === undefined) throw new Error('nothing was dispatched')
  return { runId, ...taken }
}
