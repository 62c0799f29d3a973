import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { useOpened } from '#testing/use-opened.ts'
import { call, scriptedModel, submitting } from './agent/scripted-agent.fixture.ts'
import { openOperationBench, type Planned } from './operation-bench.fixture.ts'
import { runOperation, type OperationDeps } from './run-operation.ts'

const never = new AbortController().signal
const source = 'def shelf(row):\n    return row\n'
const origin = { kind: 'api', id: 'test' } as const

describe('an operation whose run has a budget', () => {
  const bench = useOpened(openOperationBench)

  const eventsOf = ({ runId }: Planned) => bench.ledger.readEvents(runId, { after: 0, limit: 1_000 })
  const run = async (planned: Planned, model: OperationDeps['model']) => {
    const [again] = (await bench.ledger.dispatch(planned.runId, 1)).taken
    await runOperation(
      again === undefined ? planned.job : { ...planned.job, ...again },
      { ...bench.deps, model },
      never,
    )
    return bench.operation(planned)
  }

  /** Its first request is counted as 100 tokens, those that follow as 50,000. */
  function counted(usage = { promptTokens: 90, completionTokens: 10 }) {
    const reads = { toolCalls: [call('read_file', { path: 'a.py' })], usage }
    const { complete, requests } = scriptedModel([reads, { toolCalls: [submitting()], usage }])
    const asked: ModelRequest[] = []
    const countPrompt = async (request: ModelRequest) => (asked.push(request) === 1 ? 100 : 50_000)
    return { model: { complete, countPrompt }, requests, asked }
  }

  it('is handed back with its turns when its next request does not fit, and goes on once the budget is raised', async () => {
    const planned = await bench.planned(await bench.bundle('harness'), source, 'shelf')
    const { model, requests, asked } = counted()
    await bench.ledger.setBudget(planned.runId, { tokens: 20_000, origin })
    expect(await run(planned, model)).toMatchObject({ status: 'ready', attempt: 1, outcome: null })
    const most = asked[0]?.maxTokens ?? 0
    const told = await eventsOf(planned)
    expect(told.find(({ event }) => event === 'model.requested')).toMatchObject({ data: { reserved: 100 + most } })
    expect(told.at(-1)).toMatchObject({ event: 'operation.retried', data: { reason: 'budget' } })
    await bench.ledger.setBudget(planned.runId, { tokens: 100_000, origin })
    expect(await run(planned, model)).toMatchObject({ status: 'unchanged', attempt: 2, outcome: { turns: 2 } })
    expect(requests).toHaveLength(2)
    expect(await bench.ledger.getRun(planned.runId)).toMatchObject({ tokens: 200, reserved: 0 })
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it('says when the server reports more than it was asked for, and reserves the bytes of a prompt that no server counts', async () => {
    const planned = await bench.planned(await bench.bundle('harness'), source, 'shelf')
    const { model } = counted({ promptTokens: 1_000_000, completionTokens: 1 })
    await bench.ledger.setBudget(planned.runId, { tokens: 100_000_000, origin })
    await run(planned, { complete: model.complete })
    const told = await eventsOf(planned)
    const reserved = Number(told.find(({ event }) => event === 'model.requested')?.data['reserved'])
    expect(reserved).toBeGreaterThan(2_000)
    const exceeded = told.find(({ event }) => event === 'budget.exceeded_by_server')
    expect(exceeded).toMatchObject({ data: { turn: 1, endpoint: 'e', requested: reserved, reported: 1_000_001 } })
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it('sends no command more, and counts no prompt, when neither its run nor its project has one', async () => {
    const planned = await bench.planned(await bench.bundle('harness'), source, 'shelf')
    const { model, asked } = counted()
    expect(await run(planned, model)).toMatchObject({ status: 'unchanged' })
    expect(asked).toEqual([])
    expect((await eventsOf(planned)).filter(({ data }) => 'reserved' in data)).toEqual([])
  })
})
