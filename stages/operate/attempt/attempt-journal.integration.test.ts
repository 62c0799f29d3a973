import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { joinTalk, TalkPart } from '#store/objects/attempt-record.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { call, scriptedModel, submitting } from '../agent/scripted-agent.fixture.ts'
import { openOperationBench } from '../operation-bench.fixture.ts'
import { runOperation, type OperationDeps } from '../run-operation.ts'

const source = 'def shelf(row):\n    return row\n'
const never = new AbortController().signal

describe('what an attempt tells', () => {
  const bench = useOpened(openOperationBench)

  /** Every command with events passes `look` before it goes to the ledger. */
  async function run(model: OperationDeps['model'], look: (events: readonly NewEvent[]) => void) {
    const planned = await bench.planned(await bench.bundle('harness'), source, 'shelf')
    const { ledger } = bench
    const watched: OperationDeps['ledger'] = {
      ...ledger,
      async append(attempt, n, told) {
        look(told.events)
        return ledger.append(attempt, n, told)
      },
      async settle(attempt, n, settlement) {
        look(settlement.events)
        return ledger.settle(attempt, n, settlement)
      },
    }
    await runOperation(planned.job, { ...bench.deps, model, ledger: watched }, never)
    const operation = await bench.operation(planned)
    const events = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 10_000 })
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
    return { operation, events }
  }

  it('does not end it when its run is cancelled, if what runs may finish', async () => {
    const { complete } = scriptedModel([[submitting()]])
    const model = {
      async complete(request: ModelRequest) {
        const { runId = '' } = request.share ?? {}
        const by = { kind: 'publisher', id: 'test' } as const
        await bench.ledger.cancel(runId, { reason: 'a newer push', origin: by, letFinish: true })
        const told = async () =>
          (await bench.ledger.readEvents(runId, { after: 0, limit: 100 })).map(({ event }) => event)
        await until(told, { holds: (names) => names.includes('model.requested') }) // the ledger was asked since
        return complete(request)
      },
    }
    const { operation } = await run(model, () => undefined)
    expect(operation).toMatchObject({ status: 'unchanged', attempt: 1 })
  })

  it('says what it does while it waits for a slot, then for the model, and nothing once it has ended', async () => {
    const { complete } = scriptedModel([[submitting()]])
    let runId = ''
    const live = () => bench.ledger.readLive(runId, 10)
    const model: OperationDeps['model'] = {
      async complete(request, _signal, progress) {
        runId = request.share?.runId ?? ''
        await until(live, { holds: ({ counts }) => counts.slot === 1 })
        progress?.sent()
        const { shown } = await until(live, { holds: ({ counts }) => counts.model === 1 })
        expect(shown).toMatchObject([{ bundle: 'harness', qualifiedName: 'shelf', doing: { kind: 'model', turn: 1 } }])
        return complete(request)
      },
    }
    await run(model, () => undefined)
    expect(await live()).toMatchObject({ shown: [], counts: { model: 0, proof: 0, prepare: 0 } })
  })

  it('tells what is said while it runs, also when the object store takes none of it for a while', async () => {
    const { complete } = scriptedModel([[call('unspeakable', {})], [submitting()]])
    const planned = await bench.planned(await bench.bundle('harness'), source, 'shelf')
    const { runId } = planned
    const { operationId } = await bench.operation(planned)
    let hushed = 0
    const away: OperationDeps['ledger'] = {
      ...bench.ledger,
      async append(attempt, n, told) {
        if (told.talk === undefined || hushed > 0) return bench.ledger.append(attempt, n, told)
        hushed += 1
        throw new AppError('STORE_002', 'the object store is away')
      },
    }
    const model: OperationDeps['model'] = {
      async complete(request) {
        const said = () => bench.ledger.readTalk({ runId, projectId: bench.project }, { operationId, attempt: 1 })
        const talk = async () => joinTalk(z.array(TalkPart).parse(await said()))
        const { messages } = await until(talk, { holds: (told) => told.messages.length >= request.messages.length })
        expect(messages).toEqual(request.messages)
        return complete(request)
      },
    }
    await runOperation(planned.job, { ...bench.deps, model, ledger: away }, never)
    expect(await bench.operation(planned)).toMatchObject({ status: 'unchanged', attempt: 1, keptAttempts: [] })
    expect(hushed).toBe(1)
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  const refused = (tries: number[]) => (sent: readonly NewEvent[]) => {
    if (!sent.some(({ toolName }) => toolName === 'unspeakable')) return
    tries.push(sent.length)
    throw new RangeError('Maximum call stack size exceeded')
  }
  const speaking = call('unspeakable', {})

  it('costs neither the lease nor the outcome when Redis will never take it', async () => {
    const tries: number[] = []
    const { complete, requests } = scriptedModel([[speaking], [submitting()]])
    const model = {
      async complete(request: ModelRequest) {
        if (requests.length > 0) await until(() => tries, { holds: ({ length }) => length > 0 })
        return complete(request)
      },
    }
    const { operation, events } = await run(model, refused(tries))
    expect(operation).toMatchObject({ status: 'unchanged', attempt: 1 })
    expect(events.filter(({ toolName }) => toolName === 'unspeakable')).toEqual([])
    expect(events.map(({ event }) => event)).toContain('model.requested')
    expect(tries.at(-1)).toBe(1)
  })

  it('ends the operation with TOOL_004 where the command that ends it is refused', async () => {
    const tries: number[] = []
    const { operation, events } = await run(scriptedModel([[speaking, submitting()]]), refused(tries))
    expect(operation).toMatchObject({ status: 'failed', attempt: 1, outcome: { errorCode: 'TOOL_004' } })
    expect(events.at(-1)).toMatchObject({ event: 'operation.ended', errorCode: 'TOOL_004' })
    expect(tries.at(-1)).toBe(1)
  })
})
