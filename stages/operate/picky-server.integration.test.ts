import { beforeAll, describe, expect, it } from 'vitest'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { Event } from '#domain/event.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { openModelPool } from '#models/model-pool.ts'
import { allCapabilities } from '#models/wire/capabilities.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench } from './operation-bench.fixture.ts'
import { runOperation, type OperationDeps } from './run-operation.ts'

const source = `def shelf(row):
    return f"shelf {row}"
`
const never = new AbortController().signal

/** Features that a server may lack, by the rehearsal model's refusals. */
const single = Object.keys(allCapabilities).map((name) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
)
/** Features that the one request asks for, whose conversation has what code gathered; it asks for the others in some turns, or never. */
const ofEveryTurn = new Set(
  'system_role tools required strict_schemas strict_arguments lengths parallel_calls tool_messages'.split(' '),
)
const combinations: [refused: string, names: string[]][] = [
  ...single.map((name): [string, string[]] => [name, [name]]),
  ['required and named', ['required', 'named']],
  ['all that makes a call come', ['required', 'named', 'json_schema']],
  ['all but plain words', ['tools', 'json_schema', 'structured_outputs']],
  ['everything', single],
]

describe('an agent before a server that refuses', () => {
  let bundle: AgentBundle
  const bench = useOpened(openOperationBench)
  beforeAll(async () => {
    bundle = await bench.bundle('docstring')
  })

  async function refuse(names: readonly string[]): Promise<void> {
    const body = JSON.stringify(Object.fromEntries(names.map((name) => [name, true])))
    const answer = await fetch(new URL('/refusals', bench.modelUrl), { method: 'POST', body })
    expect(answer.status).toBe(200)
    await answer.text()
  }

  /** One operation against a new server, with every request changed by `ask`. */
  async function run(refused: readonly string[], ask: Partial<ModelRequest> = {}, agent = bundle) {
    await refuse(refused)
    const limits = { requestTimeoutMs: 20_000, retryBudgetMs: 1000, maxInFlight: 8 }
    const pool = openModelPool({ endpoints: [{ url: bench.modelUrl }], ...limits })
    const model: OperationDeps['model'] = {
      complete: (request, signal) => pool.complete({ ...request, ...ask }, signal),
      probe: pool.probe,
    }
    const planned = await bench.planned(agent, source, 'shelf')
    await runOperation(planned.job, { ...bench.deps, model }, never)
    await pool.close()
    await refuse([])
    const { outcome } = await bench.operation(planned)
    const events: Event[] = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 1000 })
    const responses = events.filter(({ event }) => event === 'model.responded')
    return {
      status: outcome?.status,
      error: outcome?.reason,
      calls: events.flatMap(({ event, toolName, data }) =>
        event === 'tool.called' ? [[toolName, data['arguments']]] : [],
      ),
      summary: events.find(({ event }) => event === 'submission.received')?.data['summary'],
      workarounds: responses.map(({ data }) => data['workarounds']),
    }
  }

  it.each(combinations)('%s makes the same calls and ends well', async (_refused, names) => {
    const { workarounds: none, ...unhindered } = await run([])
    expect(none).toEqual([undefined])
    const { workarounds, ...picky } = await run(names)
    expect(picky).toEqual(unhindered)
    expect(picky.status).toBe('succeeded')
    expect(picky.calls.map(([name]) => name)).toEqual(['read_docstring', 'write_docstring'])
    expect(workarounds.every(Array.isArray)).toBe(names.some((name) => ofEveryTurn.has(name)))
  })

  it.each(combinations)('%s still ends well with one turn', async (_refused, names) => {
    const one = structuredClone(bundle)
    one.file.turns = 'one'
    const { calls, status } = await run(names, {}, one)
    expect([status, calls.map(([name]) => name)]).toEqual(['succeeded', ['write_docstring']])
  })

  it('json_schema as a constraint is served, and done without where it is refused, which the events say', async () => {
    const asked = { constraint: 'json_schema', parallelCalls: false } as const
    const { workarounds: none, ...served } = await run([], asked)
    expect([none, served.status]).toEqual([[undefined], 'succeeded'])
    const { workarounds, ...refused } = await run(['json_schema', 'parallel_calls'], asked)
    expect(refused).toEqual(served)
    const told = ['json_schema: not served, tool_choice instead', 'parallel_tool_calls: not sent']
    expect(workarounds).toEqual([told])
  })

  it('a constraint of its own bundle is served, and the bundle refused where no server takes it', async () => {
    const own = structuredClone(bundle)
    own.file.grammar = { regex: '\\{"name": .*' }
    expect(await run([], {}, own)).toMatchObject({ status: 'succeeded', workarounds: [undefined] })
    const refused = await run(['structured_outputs'], {}, own)
    expect(refused).toMatchObject({ status: 'failed', workarounds: [], calls: [] })
    expect(refused.error).toContain("takes structured_outputs, which the bundle's grammar needs")
  })
})
