import { describe, expect, it } from 'vitest'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import { applyEdits } from '#domain/change-set.ts'
import { AppError } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench, type Planned } from './operation-bench.fixture.ts'
import { runOperation, type OperationDeps } from './run-operation.ts'

const source = `def before():
    """Stand before it: ä, ö."""


def shelf(row):
    return f"shelf"


def after():
    return 1
`

const never = new AbortController().signal

describe('runOperation', () => {
  const bench = useOpened(openOperationBench)

  /** The run's events, once the operation has ended. */
  const eventsOf = ({ runId }: Planned): Promise<Event[]> => bench.ledger.readEvents(runId, { after: 0, limit: 1000 })

  async function runOnce(bundle: AgentBundle, text: string, name: string) {
    const planned = await bench.planned(bundle, text, name)
    await runOperation(planned.job, bench.deps, never)
    const operation = await bench.operation(planned)
    return { planned, operation, events: await eventsOf(planned) }
  }

  async function faultyLint(fault: string, limits: Partial<AgentBundle['file']['limits']>): Promise<AgentBundle> {
    const bundle = await bench.bundle('lint')
    bundle.file.initial_context.system_prompt += `[[rehearsal:fault=${fault}]]`
    Object.assign(bundle.file.limits, limits)
    return bundle
  }

  it('ends with a change set, its evidence, and everything the attempt did in one record', async () => {
    const { planned, operation, events } = await runOnce(await bench.bundle('docstring'), source, 'shelf')
    const { outcome } = operation
    expect(outcome).toMatchObject({ status: 'succeeded', turns: 1, changedFiles: ['src/shop.py'] })

    const record = await bench.record(operation)
    const { recordHash: _hash, ...told } = outcome ?? {}
    expect(record.outcome).toEqual(told)
    expect(record).toMatchObject({ operationId: operation.operationId, attempt: 1, model: 'rehearsal model (no LLM)' })
    expect(record.replies).toHaveLength(1)
    expect(record.messages.map(({ role }) => role).join(' ')).toBe(
      'system user assistant tool assistant tool assistant tool',
    )
    expect(events.filter(({ event }) => event === 'model.requested').map(({ data }) => data['messages'])).toEqual([4])
    expect(record.tools.map(({ name, externals }) => [name, externals.map((external) => external.name)])).toEqual([
      ['read_docstring', ['describe_definition']],
      ['write_docstring', ['insert_docstring']],
    ])
    expect(record.tools).toMatchObject(record.tools.map(() => ({ scriptMs: expect.any(Number) })))
    expect(record.tools[0]?.externals[0]).toMatchObject({ answer: { qualified_name: 'shelf', has_docstring: false } })
    expect(record.reads.contents).toEqual({ [planned.file.path]: planned.file.hash })

    const { changeSet } = record
    expect(changeSet?.changeSetId).toBe(outcome?.changeSetId)
    const { evidence: checks } = (await bench.bundle('docstring')).file
    expect(changeSet?.evidence.map(({ check, ok }) => [check, ok])).toEqual(
      checks.map((check) => [check, check !== 'says_something']), // the rehearsal model wrote it
    )
    const [change] = changeSet?.files ?? []
    const edits = change?.kind === 'edit' && change.baseHash === planned.file.hash ? change.edits : []
    const changed = Buffer.from(applyEdits(Buffer.from(source), edits)).toString()
    expect(changed).toMatch(/def shelf\(row\):\n {4}"""[^"]+"""\n {4}return f"shelf"\n/)
    expect(changed.replace(/ {4}"""Return[^"]+"""\n/, '')).toBe(source)
  })

  it('is unchanged when there is nothing to do, and says so in its record', async () => {
    const { operation } = await runOnce(await bench.bundle('docstring'), source, 'before')
    expect(operation.outcome).toMatchObject({ status: 'unchanged', changedFiles: [] })
    expect(operation.outcome?.changeSetId).toBeUndefined()
    expect((await bench.record(operation)).changeSet).toBeNull()
  })

  it('fails with AGENT_006 when the model takes longer than the bundle allows', async () => {
    const { operation, events } = await runOnce(await faultyLint('hang', { timeout_s: 0.3 }), source, 'shelf')
    expect(operation.outcome).toMatchObject({ status: 'failed', errorCode: 'AGENT_006' })
    const named = (name: string) => events.filter(({ event }) => event === name).length
    expect([named('model.requested'), named('model.responded')]).toEqual([1, 1])
    const { messages, exchanges } = await bench.record(operation)
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(exchanges).toMatchObject([{ turn: 1, messages: 2, error: { message: expect.any(String) } }])
  })

  it('keeps in its record what it did when its changes cannot be checked', async () => {
    const planned = await bench.planned(await bench.bundle('docstring'), source, 'shelf')
    const evidence = { check: () => Promise.reject(new AppError('TOOL_004', 'the checker is broken')) }
    await runOperation(planned.job, { ...bench.deps, evidence }, never)
    const operation = await bench.operation(planned)
    expect(operation.outcome).toMatchObject({ status: 'failed', errorCode: 'TOOL_004', turns: 1, changedFiles: [] })
    const { recordHash: _hash, ...told } = operation.outcome ?? {}
    const record = await bench.record(operation)
    expect(record.outcome).toEqual(told)
    expect([record.replies.length, record.tools.length, record.changeSet]).toEqual([1, 2, null])
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it.each(['lint', 'docstring'] as const)('%s: fails with TOOL_006 on a file the linter cannot take', async (name) => {
    const deep = `${source}\n\nx = a${'.b()'.repeat(30_000)}\n`
    const { operation } = await runOnce(await bench.bundle(name), deep, 'shelf')
    expect(operation.outcome).toMatchObject({ status: 'failed', errorCode: 'TOOL_006', phase: 'execution' })
    expect((await runOnce(await bench.bundle(name), source, 'shelf')).operation.outcome?.status).toBe('succeeded')
  })

  it('is cancelled before it begins, and in the middle of a request to the model', async () => {
    const cancel = async ({ runId }: Planned) => bench.redis.hset(runKeys(bench.namespace, runId).run, 'cancel', '1')
    const early = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    await cancel(early)
    await runOperation(early.job, bench.deps, never)
    expect((await bench.operation(early)).status).toBe('cancelled')
    expect((await eventsOf(early)).map(({ event }) => event)).not.toContain('operation.started')

    const late = await bench.planned(await faultyLint('hang', {}), source, 'shelf')
    const running = runOperation(late.job, { ...bench.deps, ledger: bench.withLease(600) }, never)
    await until(() => eventsOf(late), { holds: (events) => events.some(({ event }) => event === 'model.requested') })
    await cancel(late)
    await running
    const cancelled = await bench.operation(late)
    expect(cancelled.outcome).toMatchObject({ status: 'cancelled', errorCode: 'AGENT_010' })
    const record = await bench.record(cancelled)
    expect(record.messages).toHaveLength(2)
    expect(record.exchanges).toMatchObject([{ turn: 1, error: { code: 'AGENT_010' } }])
  })

  it('is handed back when its worker stops in the middle, and done by the next', async () => {
    const planned = await bench.planned(await faultyLint('hang', {}), source, 'shelf')
    const stop = new AbortController()
    const running = runOperation(planned.job, bench.deps, stop.signal)
    await until(() => eventsOf(planned), { holds: (events) => events.some(({ event }) => event === 'model.requested') })
    stop.abort(new Error('the worker is shutting down'))
    await running
    expect(await bench.operation(planned)).toMatchObject({ status: 'ready', attempt: 1, lost: 0 })
    const told = await eventsOf(planned)
    expect(told.at(-1)).toMatchObject({ event: 'operation.retried', data: { attempt: 1, reason: 'drain' } })

    await runOperation(planned.job, bench.deps, never)
    expect((await bench.operation(planned)).status).toBe('ready')
    expect((await bench.ledger.dispatch(planned.runId, 1)).taken).toEqual([
      { operationId: planned.job.operationId, dispatch: 2 },
    ])
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it('is handed back when the object store refuses its record for good, and fails with STORE_002 when it stays so', async () => {
    const planned = await bench.planned(await bench.bundle('docstring'), source, 'shelf')
    const away = () => Promise.reject(new AppError('STORE_002', 'refused: too large'))
    const deps = { ...bench.deps, objects: { ...bench.deps.objects, put: away } }
    let { job } = planned
    const reasons: unknown[] = []
    for (let tries = 1; tries <= 13; tries++) {
      await runOperation(job, deps, never)
      reasons.push((await eventsOf(planned)).at(-1)?.data['reason'])
      const { ready } = await bench.ledger.dispatch(planned.runId, 0)
      if (ready === 0) break
      const [taken] = await until(async () => (await bench.ledger.dispatch(planned.runId, 1)).taken, {
        holds: ({ length }) => length > 0,
      })
      if (taken !== undefined) job = { runId: planned.runId, ...taken }
    }
    expect(reasons).toEqual([...Array.from({ length: 12 }, () => 'store'), 'refused: too large'])
    expect((await bench.operation(planned)).outcome).toMatchObject({ status: 'failed', errorCode: 'STORE_002' })
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it('settles once when it is delivered twice', async () => {
    const planned = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    const deps = { ...bench.deps, ledger: bench.withLease(1000) }
    await Promise.all([runOperation(planned.job, deps, never), runOperation(planned.job, deps, never)])
    await runOperation(planned.job, deps, never)
    expect(await bench.operation(planned)).toMatchObject({ status: 'succeeded', attempt: 1, lost: 0 })
    const told = (await eventsOf(planned)).map(({ event }) => event)
    for (const once of ['operation.started', 'change_set.created', 'operation.ended']) {
      expect(told.filter((event) => event === once)).toHaveLength(1)
    }
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it('says what it made with its commit alone: nothing of an attempt that is lost just before that', async () => {
    const planned = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    let isLost = false
    const put: OperationDeps['objects']['put'] = async (key, ...content) => {
      if (key.includes('/attempts/') && !isLost) {
        await until(() => eventsOf(planned), {
          holds: (events) => events.some(({ event }) => event === 'submission.received'),
        })
        isLost = true
        await bench.ledger.sweep(planned.runId, 'abandoned')
      }
      return bench.deps.objects.put(key, ...content)
    }
    const objects = { ...bench.deps.objects, put }
    await runOperation(planned.job, { ...bench.deps, objects }, never)
    expect(isLost).toBe(true)
    const created = async () => (await eventsOf(planned)).filter(({ event }) => event === 'change_set.created')
    expect(await created()).toEqual([])
    const [job] = (await bench.ledger.dispatch(planned.runId, 1)).taken
    await runOperation({ ...planned.job, ...job }, bench.deps, never)
    expect(await bench.operation(planned)).toMatchObject({ status: 'succeeded', attempt: 2 })
    expect(await created()).toHaveLength(1)
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })
})
