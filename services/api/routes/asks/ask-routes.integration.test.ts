import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AskReceived, AskView } from '#schemas/ask-schema.ts'
import { newRunId } from '#domain/ids.ts'
import { composeRun, playRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()

function post(runId: string, body: object, key?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) }
  return api.ask(`/v1/runs/${runId}/asks`, { method: 'POST', headers, body: JSON.stringify(body) })
}

const read = async (path: string): Promise<unknown> => (await api.ask(`/v1/runs/${path}`)).json()
const Refused = z.object({ status: z.int(), error_code: z.string() })

async function codeOf(answered: Promise<Response>): Promise<[number, string]> {
  const { status, error_code: code } = Refused.parse(await (await answered).json())
  return [status, code]
}

describe('asks of a run', () => {
  it('are taken in while it goes on and when it has ended, once for a key, and shown with what came of them', async () => {
    const runId = await playRun(api, [{ name: 'one', leaves: 'sound' }])
    const asked = await post(runId, { text: ' Why? ' }, 'a-key')
    expect(asked.status).toBe(202)
    const { ask_id: askId } = AskReceived.parse(await asked.json())
    expect(await (await post(runId, { text: 'Why?' }, 'a-key')).json()).toEqual({ run_id: runId, ask_id: askId })
    expect(await codeOf(post(runId, { text: 'How?' }, 'a-key'))).toEqual([422, 'INTAKE_005'])
    const open = AskView.parse(await read(`${runId}/asks/${askId}`))
    expect(open).toMatchObject({ status: 'open', text: 'Why?', asked_by: `environment/${api.project}`, answer: null })

    await composeRun(api, runId, { files: [] })
    const fault = { error_code: 'POLICY_001', reason: 'no model', prompt_tokens: 0, completion_tokens: 0 }
    const head = { phase: 'review', origin: { kind: 'conductor', id: 'c1' } } as const
    const event = { event: 'ask.failed', ...head, data: { ask_id: askId, ...fault } } as const
    await api.ledger.whileHolding(runId, 'answering', (_lost, token) => api.ledger.endAsk(runId, { token, event }))
    const ended = { status: 'failed', error_code: 'POLICY_001', reason: 'no model', ended_at: expect.any(String) }
    expect(AskView.parse(await read(`${runId}/asks/${askId}`))).toMatchObject(ended)
    const { ask_id: later } = AskReceived.parse(await (await post(runId, { text: 'And now?' })).json())
    const taken = await api.ledger.whileHolding(runId, 'answering', () => read(`${runId}/asks/${later}`))
    expect(taken).toMatchObject({ status: 'taken', text: 'And now?' })
  })

  it('are refused where they are empty or too long, or there is no such run or ask', async () => {
    const runId = await playRun(api, [])
    expect(await codeOf(post(runId, { text: '  ' }))).toEqual([422, 'INTAKE_008'])
    expect(await codeOf(post(runId, { text: 'x'.repeat(2_001) }))).toEqual([422, 'INTAKE_008'])
    expect(await codeOf(post(newRunId(1), { text: 'Why?' }))).toEqual([404, 'RUN_001'])
    expect(await codeOf(api.ask(`/v1/runs/${runId}/asks/a0000000000000000`))).toEqual([404, 'ASK_001'])
  })

  it('are kept up to fifty of a run', async () => {
    const runId = await playRun(api, [])
    for (let at = 0; at < 50; at += 1) expect((await post(runId, { text: 'Why?' }, `key-${at}`)).status).toBe(202)
    expect(await codeOf(post(runId, { text: 'Why?' }))).toEqual([413, 'INTAKE_003'])
    expect((await post(runId, { text: 'Why?' }, 'key-0')).status).toBe(202)
  })
})
