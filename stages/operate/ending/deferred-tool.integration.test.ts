import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { call, scriptedModel, submitting } from '../agent/scripted-agent.fixture.ts'
import { openOperationBench, type Planned } from '../operation-bench.fixture.ts'
import { runOperation } from '../run-operation.ts'
import { openToolsBeside } from '../tools/programs/tools-beside.ts'

const never = new AbortController().signal
const { sandbox, lack } = await testSandbox(process.env)
const human = { kind: 'human', id: 'tester' } as const

const script = `from typing import Any
from grail import Input, external
seconds: int = Input("seconds")
@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...
@external
async def run_command(command: list[str]) -> dict[str, Any]: ...
await write_file("said.txt", "ready")
ran = await run_command(["python3", "-c", f"import time; time.sleep({seconds}); print(open('said.txt').read())"])
answer = {"result": ran, "summary": "ran", "knowledge_delta": {}, "outcome": "success"}
answer
`

describe.skipIf(lack !== undefined)(`a program that takes long${lack === undefined ? '' : ` (${lack})`}`, () => {
  const bench = useOpened(openOperationBench)

  /** A worker's tools take long after 200 ms. */
  function worker(seconds: number, change: Partial<typeof bench.deps.programs> = {}) {
    const beside = openToolsBeside({ afterMs: 200 })
    const model = scriptedModel([[call('run_it', { seconds })], [submitting('skipped')]])
    const noticed = new Set<() => void>()
    const stops: typeof bench.deps.stops = {
      on(_runId, notice) {
        noticed.add(notice)
        return () => void noticed.delete(notice)
      },
    }
    const deps = { ...bench.deps, model, beside, stops, programs: { ...bench.deps.programs, sandbox, ...change } }
    return { beside, noticed, work: ({ job }: Planned) => runOperation(job, deps, never) }
  }

  async function planned(): Promise<Planned> {
    const bundle = await bench.bundle('lint')
    bundle.file.programs = ['python3']
    bundle.scripts = { ...bundle.scripts, run_it: { path: 'run.pym', source: script } }
    const parameters = { type: 'object', properties: { seconds: { type: 'integer' } } }
    bundle.tools = [...bundle.tools, { name: 'run_it', description: 'Run it.', parameters }]
    return bench.planned(bundle, 'def price(row):\n    return row\n', 'price')
  }

  /** Dispatches the operation once more, as soon as it is ready. */
  async function again(one: Planned): Promise<Planned> {
    await until(() => bench.operation(one), { holds: ({ status }) => status === 'ready' })
    const [taken] = (await bench.ledger.dispatch(one.runId, 1)).taken
    if (taken === undefined) throw new Error('nothing was dispatched')
    return { ...one, job: { runId: one.runId, ...taken } }
  }

  async function waitsIn({ runId }: Planned) {
    const events = await bench.ledger.readEvents(runId, { after: 0, limit: 100 })
    return events.flatMap(({ event, data: { reason, again: isAgain } }) =>
      event === 'operation.suspended' || event === 'operation.resumed' ? [[event, reason, isAgain]] : [],
    )
  }

  it('frees the slot, and the operation goes on with what it ended with', async () => {
    const { work } = worker(2)
    const one = await planned()
    let inSlotMs = 0
    const workTimed = async (attempt: Planned) => {
      const startedAt = performance.now()
      await work(attempt)
      inSlotMs += performance.now() - startedAt
    }
    await workTimed(one)
    expect(await bench.operation(one)).toMatchObject({ status: 'waiting', waitsFor: null })
    expect(await bench.ledger.getRun(one.runId)).toMatchObject({ status: 'running', deferred: 1 })
    const { shown, counts } = await bench.ledger.readLive(one.runId, 10)
    expect(shown).toMatchObject([{ doing: { kind: 'deferred', what: 'run_it', turn: 1 } }])
    expect(counts).toMatchObject({ deferred: 1, person: 0 })
    expect((await bench.ledger.verify(one.runId)).violations).toEqual([])

    await workTimed(await again(one))
    const operation = await bench.operation(one)
    expect(operation).toMatchObject({ status: 'unchanged', attempt: 2, lost: 0, outcome: { turns: 2 } })
    expect(operation.outcome?.durationMs).toBeGreaterThan(inSlotMs)
    const [ran] = (await bench.record(operation)).tools
    expect(ran?.result.result).toMatchObject({ exit_code: 0, output: 'ready\n' })
    expect(ran?.externals.map(({ name }) => name)).toEqual(['write_file', 'run_command'])
    expect(await waitsIn(one)).toEqual([
      ['operation.suspended', 'tool', undefined],
      ['operation.resumed', 'tool', undefined],
    ])
    expect((await bench.ledger.verify(one.runId)).violations).toEqual([])
  })

  it('runs again after its worker was lost, which stops it as soon as it learns of that', async () => {
    const { work, beside } = worker(60)
    const one = await planned()
    await work(one)
    await bench.redis.zadd(runKeys(bench.namespace, one.runId).waiting, 'XX', 1, one.job.operationId)
    expect(await bench.ledger.sweep(one.runId)).toMatchObject({ takenBack: 1 })
    expect(await bench.operation(one)).toMatchObject({ status: 'ready', lost: 1 })
    await work(await again(one))
    expect(await bench.operation(one)).toMatchObject({ status: 'waiting', attempt: 2 })
    expect((await bench.ledger.verify(one.runId)).violations).toEqual([])
    await beside.close()
    expect(await waitsIn(one)).toEqual([
      ['operation.suspended', 'tool', undefined],
      ['operation.resumed', 'tool', true],
      ['operation.suspended', 'tool', undefined],
      ['operation.resumed', 'tool', true],
    ])
    expect(await bench.operation(one)).toMatchObject({ status: 'ready', lost: 1 })
  })

  it('ends its operation as a shorter one would, where it cannot be run', async () => {
    let opened = 0
    const one = await planned()
    const { work } = worker(1, {
      async environment() {
        opened += 1
        if (opened !== 2) return {} // the first attempt has looked for all that it needs
        await until(() => bench.operation(one), { holds: ({ status }) => status === 'waiting' })
        throw new AppError('SETUP_001', 'its files are gone')
      },
    })
    await work(one)
    await work(await again(one))
    const outcome = { errorCode: 'SETUP_001', reason: 'its files are gone' }
    expect(await bench.operation(one)).toMatchObject({ status: 'blocked', attempt: 2, lost: 0, outcome })
  })

  it('is stopped with its run', async () => {
    const { work, noticed } = worker(60)
    const one = await planned()
    await work(one)
    await bench.ledger.cancel(one.runId, { reason: 'enough', origin: human, letFinish: false })
    await bench.ledger.endSlice(one.runId, 0)
    for (const notice of noticed) notice()
    await until(() => noticed.size, { holds: (left) => left === 0 })
    expect(await bench.operation(one)).toMatchObject({ status: 'cancelled' })
    expect((await bench.ledger.verify(one.runId)).violations).toEqual([])
  })
})
