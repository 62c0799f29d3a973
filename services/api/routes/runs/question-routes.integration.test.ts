import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { newRunId } from '#domain/ids.ts'
import { anEvent } from '#testing/an-event.ts'
import { QuestionPage } from '#schemas/question-schema.ts'
import { askingRun, plannedOperation, playRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()

const question = { text: 'May I rename greet?', choices: ['yes', 'no'] }

const pageOf = async (runId: string, query = '') =>
  QuestionPage.parse(await (await api.ask(`/v1/runs/${runId}/questions${query}`)).json())

function answer(runId: string, requestId: string, body: unknown, key?: string): Promise<Response> {
  return api.ask(`/v1/runs/${runId}/questions/${requestId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: JSON.stringify(body),
  })
}

const Refused = z.object({ status: z.int(), error_code: z.string() })

async function codeOf(answered: Promise<Response>): Promise<[number, string]> {
  const { status, error_code: code } = Refused.parse(await (await answered).json())
  return [status, code]
}

describe('GET /v1/runs/{run_id}/questions', () => {
  it('shows what is asked, of which node, and until when it may be answered', async () => {
    const runId = await askingRun(api, question)
    const { operationId, node } = plannedOperation('asking')
    const { questions, next } = await pageOf(runId)
    expect(questions).toEqual([
      {
        kind: 'text',
        request_id: 'q1',
        operation_id: operationId,
        node_id: node.nodeId,
        agent: 'lint',
        path: 'a.py',
        qualified_name: 'asking',
        question: 'May I rename greet?',
        choices: ['yes', 'no'],
        status: 'open',
        asked_at: expect.stringMatching(/Z$/),
        expires_at: expect.stringMatching(/Z$/),
        answer: null,
        answered_at: null,
        answered_by: null,
      },
    ])
    expect(next).toBeNull()
    const run = await (await api.ask(`/v1/runs/${runId}`)).json()
    expect(run).toMatchObject({
      status: 'waiting',
      open_questions: 1,
      links: { questions: `/v1/runs/${runId}/questions` },
    })
    const operation = await (await api.ask(`/v1/runs/${runId}/operations/${operationId}`)).json()
    expect(operation).toMatchObject({ status: 'waiting', waits_for: 'q1' })
  })

  it('goes page by page, and keeps to a status', async () => {
    const runId = await playRun(
      api,
      ['a', 'b', 'c'].map((name) => ({ name, asks: question })),
    )
    await answer(runId, 'q2', { answer: 'no' })
    const first = await pageOf(runId, '?limit=2')
    expect([first.questions.map((one) => one.request_id), first.next]).toEqual([['q1', 'q2'], '2'])
    const second = await pageOf(runId, `?limit=2&cursor=${first.next}`)
    expect([second.questions.map((one) => one.request_id), second.next]).toEqual([['q3'], null])
    const open = await pageOf(runId, '?status=open')
    expect(open.questions.map((one) => one.request_id)).toEqual(['q1', 'q3'])
    expect(await codeOf(api.ask(`/v1/runs/${runId}/questions?status=lost`))).toEqual([400, 'RUN_002'])
  })
})

describe('POST /v1/runs/{run_id}/questions/{request_id}', () => {
  it('answers it, once, and names who did', async () => {
    const runId = await askingRun(api, question)
    const answered = await answer(runId, 'q1', { answer: 'yes' })
    expect(answered.status).toBe(200)
    const view: unknown = await answered.json()
    expect(view).toMatchObject({
      request_id: 'q1',
      status: 'answered',
      answer: 'yes',
      answered_at: expect.stringMatching(/Z$/),
      answered_by: `human/environment/${api.project}`,
    })
    expect(await pageOf(runId)).toEqual({ questions: [view], next: null })
    expect(await codeOf(answer(runId, 'q1', { answer: 'no' }))).toEqual([409, 'ASK_002'])
    expect(await (await api.ask(`/v1/runs/${runId}`)).json()).toMatchObject({ status: 'running', open_questions: 0 })
  })

  it('takes the same key as the same answer, and no other answer with it', async () => {
    const runId = await askingRun(api)
    const first: unknown = await (await answer(runId, 'q1', { answer: 'rename' }, 'the-key')).json()
    expect(await (await answer(runId, 'q1', { answer: 'rename' }, 'the-key')).json()).toEqual(first)
    expect(await codeOf(answer(runId, 'q1', { answer: 'leave it' }, 'the-key'))).toEqual([422, 'INTAKE_005'])
    expect(await codeOf(answer(runId, 'q1', { answer: 'rename' }, 'another'))).toEqual([409, 'ASK_002'])
  })

  it('takes a verdict on a call, once, and with the same key again', async () => {
    const call = { tool: 'write_file', arguments: JSON.stringify({ path: 'a.py', lines: [] }) }
    const runId = await askingRun(api, { text: 'May write_file be called?', choices: null, call })
    expect((await pageOf(runId)).questions).toMatchObject([{ kind: 'approval', call, status: 'open', answer: null }])
    expect(await codeOf(answer(runId, 'q1', { answer: 'yes' }))).toEqual([422, 'ASK_005'])
    expect(await codeOf(answer(runId, 'q1', { answer: { verdict: 'maybe' } }))).toEqual([422, 'INTAKE_008'])
    const reasonless = { verdict: 'allow', reason: 'it is fine' }
    expect(await codeOf(answer(runId, 'q1', { answer: reasonless }))).toEqual([422, 'INTAKE_008'])
    const denial = { verdict: 'deny', reason: 'not on a Friday' }
    const first: unknown = await (await answer(runId, 'q1', { answer: denial }, 'a-key')).json()
    expect(first).toMatchObject({ kind: 'approval', status: 'answered', answer: denial })
    expect(await (await answer(runId, 'q1', { answer: denial }, 'a-key')).json()).toEqual(first)
    expect(await codeOf(answer(runId, 'q1', { answer: { verdict: 'deny' } }, 'a-key'))).toEqual([422, 'INTAKE_005'])
    expect(await codeOf(answer(runId, 'q1', { answer: { verdict: 'allow' } }))).toEqual([409, 'ASK_002'])
    expect((await pageOf(runId)).questions).toEqual([first])
  })

  it('does what an answer about the run says, which has not waited for it', async () => {
    const runId = await askingRun(api, question)
    const asked = { after: 0, bundle: 'watcher', text: 'All fail.', choices: ['continue', 'stop'] }
    const questions = [{ ...asked, acts: { stop: 'cancel' } } as const]
    await api.ledger.keepWatch(runId, { token: 'w', version: 1, state: {}, events: [anEvent()], questions })
    const about = { request_id: 'q2', agent: 'watcher', operation_id: null, path: null, expires_at: null }
    expect((await pageOf(runId)).questions).toMatchObject([{ request_id: 'q1' }, about])
    const shown = await (await api.ask(`/v1/runs/${runId}`)).json()
    expect(shown).toMatchObject({ open_questions: 2, waiting_for: [{ kind: 'answer', questions: 1 }] })
    expect((await answer(runId, 'q2', { answer: 'stop' })).status).toBe(200)
    expect(await (await api.ask(`/v1/runs/${runId}`)).json()).toMatchObject({ cancel_requested: true })
  })

  it('refuses what it does not take', async () => {
    const runId = await askingRun(api, question)
    expect(await codeOf(answer(runId, 'q1', { answer: { verdict: 'allow' } }))).toEqual([422, 'ASK_005'])
    expect(await codeOf(answer(runId, 'q1', { answer: 'perhaps' }))).toEqual([422, 'ASK_005'])
    expect(await codeOf(answer(runId, 'q1', { answer: '' }))).toEqual([422, 'ASK_005'])
    expect(await codeOf(answer(runId, 'q1', { answer: 7 }))).toEqual([422, 'INTAKE_008'])
    expect(await codeOf(answer(runId, 'q1', {}))).toEqual([422, 'INTAKE_008'])
    expect(await codeOf(answer(runId, 'q2', { answer: 'yes' }))).toEqual([404, 'ASK_001'])
    expect(await codeOf(answer(runId, 'first', { answer: 'yes' }))).toEqual([404, 'ASK_001'])
    expect(await codeOf(answer(newRunId(1), 'q1', { answer: 'yes' }))).toEqual([404, 'RUN_001'])
    const other = api.askAs('other', `/v1/runs/${runId}/questions/q1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"answer":"yes"}',
    })
    expect(await codeOf(other)).toEqual([404, 'RUN_001'])
    await api.ask(`/v1/runs/${runId}/cancel`, { method: 'POST' })
    expect(await codeOf(answer(runId, 'q1', { answer: 'yes' }))).toEqual([409, 'RUN_007'])
  })
})
