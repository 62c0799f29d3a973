import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { newRunId, type RunId } from '#domain/ids.ts'
import type { EndedOperationStatus } from '#domain/operation.ts'
import { anEvent, aNewRun, anOutcome, aPlannedOperation } from '#testing/open-test-ledger.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()

const [good, bad] = [aPlannedOperation('good'), aPlannedOperation('bad')]

async function running(): Promise<RunId> {
  const run = aNewRun({ projectId: api.project })
  await api.ledger.createRun(run)
  const events = [anEvent({ event: 'run.started', phase: 'snapshot' })]
  await api.ledger.plan(run.runId, { slice: 0, operations: [good, bad], last: true })
  const to = { status: 'running', phase: 'execution' } as const
  await api.ledger.move(run.runId, { from: [{ status: 'queued' }], to, command: 'start', events })
  return run.runId
}

/** A run that ended with one operation well and one as `status`; `ended` before or after its patch was composed. */
async function endedRun(status: EndedOperationStatus, ended: 'composed' | 'early' = 'composed'): Promise<RunId> {
  const runId = await running()
  for (const { operationId, dispatch } of (await api.ledger.dispatch(runId, 2)).taken) {
    const answer = await api.ledger.claim({ runId, operationId, dispatch }, 'token')
    if (answer.kind !== 'claimed') throw new Error('it was not claimed')
    const outcome = operationId === good.operationId ? anOutcome() : anOutcome({ status, errorCode: 'AGENT_002' })
    await api.ledger.settle(answer.attempt, 1, { outcome, events: [] })
  }
  const events = [anEvent({ event: 'run.completed', phase: 'review' })]
  const set = ended === 'composed' ? { compositionKey: 'c1' } : {}
  const to = { status: 'completed' } as const
  await api.ledger.move(runId, { from: [{ status: 'running' }], to, command: 'end', set, events })
  return runId
}

const Answer = z.object({
  status: z.union([z.string(), z.number()]),
  error_code: z.string().optional(),
  run_id: z.string().optional(),
})

const post = (path: string, body?: object | string, headers: Record<string, string> = {}) =>
  api.ask(`/v1/runs/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

describe('POST /v1/runs/{run_id}/cancel', () => {
  it('asks a run to stop, with the reason given, however often it is called', async () => {
    const runId = await running()
    const answer = await post(`${runId}/cancel`, { reason: 'wrong folder' })
    expect(answer.status).toBe(202)
    expect(await answer.json()).toMatchObject({ run_id: runId, status: 'running', cancel_requested: true })
    expect((await post(`${runId}/cancel`)).status).toBe(202)
    expect(await api.ledger.getRun(runId)).toMatchObject({ stop: { kind: 'request', reason: 'wrong folder' } })
    const view = await (await api.ask(`/v1/runs/${runId}`)).json()
    expect(view).toMatchObject({ cancel_requested: true })
  })

  it('refuses one that has ended otherwise, one that is not there and what it does not understand', async () => {
    const codeOf = async (answer: Response | Promise<Response>) => {
      const { status, error_code: code } = Answer.parse(await (await answer).json())
      return [status, code]
    }
    expect(await codeOf(post(`${await endedRun('failed')}/cancel`))).toEqual([409, 'RUN_007'])
    expect(await codeOf(post(`${newRunId(1)}/cancel`))).toEqual([404, 'RUN_001'])
    const runId = await running()
    expect(await codeOf(post(`${runId}/cancel`, { reason: 7 }))).toEqual([422, 'INTAKE_008'])
    expect(await codeOf(post(`${runId}/cancel`, 'not json'))).toEqual([422, 'INTAKE_008'])
    expect(await codeOf(post(`${runId}/cancel`, { reason: 'x'.repeat(100_000) }))).toEqual([413, 'INTAKE_003'])
    const unread = await (await post(`${runId}/cancel`, '{"reason"')).json()
    expect(unread).toMatchObject({ detail: 'The body is not JSON.' })
    const other = api.askAs('other', `/v1/runs/${runId}/cancel`, { method: 'POST' })
    expect(await codeOf(other)).toEqual([404, 'RUN_001'])
    expect(await api.ledger.getRun(runId)).toMatchObject({ stop: null })
  })
})

describe('POST /v1/runs/{run_id}/retry', () => {
  it('has the run do once more what did not end well', async () => {
    const runId = await endedRun('failed')
    const answer = await post(`${runId}/retry`)
    expect(answer.status).toBe(202)
    expect(await answer.json()).toMatchObject({ run_id: runId, generation: 2 })
    expect(await api.ledger.getRun(runId)).toMatchObject({ generation: 2, endedAt: null })
  })

  it('makes the patch of a run that ended before it was composed, though every operation ended well', async () => {
    const answer = await post(`${await endedRun('unchanged', 'early')}/retry`)
    expect(answer.status).toBe(202)
  })

  it('takes named operations, also such as ended well, and stands for one generation under one key', async () => {
    const runId = await endedRun('failed')
    const ask = (operations: string[]) => post(`${runId}/retry`, { operations }, { 'idempotency-key': `key-${runId}` })
    for (const _time of [1, 2]) expect(await (await ask([good.operationId])).json()).toMatchObject({ generation: 2 })
    expect(await (await ask([bad.operationId])).json()).toMatchObject({ error_code: 'INTAKE_005' })
    expect(await api.ledger.getRun(runId)).toMatchObject({ wanted: { operations: [good.operationId] } })
  })

  it('follows another error policy than before when one is named', async () => {
    const policyOf = async (body?: object) => {
      const runId = await endedRun('failed')
      await post(`${runId}/retry`, body)
      return (await api.ledger.getRun(runId)).errorPolicy
    }
    expect(await policyOf()).toBe('skip_downstream')
    expect(await policyOf({ error_policy: 'continue' })).toBe('continue')
    const unknown = await (await post(`${await endedRun('failed')}/retry`, { error_policy: 'never' })).json()
    expect(unknown).toMatchObject({ status: 422, error_code: 'INTAKE_008' })
  })

  it('takes what failed with some error codes, as a filter that stands for one generation under one key', async () => {
    const runId = await endedRun('failed')
    const ask = (body: object, headers = {}) => post(`${runId}/retry`, body, headers)
    const key = { 'idempotency-key': `codes-${runId}` }
    for (const code of ['AGENT_004', 'NONSENSE']) {
      const detail = `No operation of run "${runId}" failed with ${code}; its codes: AGENT_002 (1).`
      const refused = await (await ask({ codes: ['AGENT_002', code] })).json()
      expect(refused).toMatchObject({ status: 422, error_code: 'INTAKE_007', detail })
    }
    expect(await (await ask({ codes: ['AGENT_002'] }, key)).json()).toMatchObject({ generation: 2 })
    expect(await (await ask({ codes: ['AGENT_002', 'AGENT_002'] }, key)).json()).toMatchObject({ generation: 2 })
    expect((await api.ledger.getRun(runId)).wanted).toEqual({ codes: ['AGENT_002'] })
    const both = await (await ask({ codes: ['AGENT_002'], operations: [bad.operationId] })).json()
    expect(both).toMatchObject({ status: 422, error_code: 'INTAKE_008', detail: expect.stringContaining('only one') })
    expect(await (await ask({ codes: [] })).json()).toMatchObject({ status: 422, error_code: 'INTAKE_008' })
  })

  it('refuses a run that goes on, one with nothing to do again, and an operation it does not have', async () => {
    expect(await (await post(`${await running()}/retry`)).json()).toMatchObject({ status: 409, error_code: 'RUN_006' })
    const well = await endedRun('unchanged')
    expect(await (await post(`${well}/retry`)).json()).toMatchObject({ status: 422, error_code: 'INTAKE_007' })
    const unknown = { operations: ['o0123456789abcdef'] }
    expect(await (await post(`${well}/retry`, unknown)).json()).toMatchObject({ status: 404, error_code: 'RUN_004' })
  })
})
