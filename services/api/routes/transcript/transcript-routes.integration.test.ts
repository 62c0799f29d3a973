import { describe, expect, it } from 'vitest'
import { Problem } from '#schemas/problem-schema.ts'
import { TranscriptView } from '#schemas/transcript-schema.ts'
import { openTestApi } from '../../app.fixture.ts'
import { plannedOperation, playRun } from '../../played-run.fixture.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { putAttemptRecord } from '#store/objects/stored-records.ts'
import { plantedSecrets } from '#testing/planted-secrets.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { addressOf, conversationsOn } from './played-conversation.fixture.ts'
import { anEndedRecord } from './transcript.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()

const { operationId } = plannedOperation('total')
const { underWay, dispatched, ended, settle, say, lost, ask } = conversationsOn(api)

async function problemOf(answer: Response): Promise<Problem> {
  return Problem.parse(await answer.json())
}

describe('GET /v1/runs/{run_id}/operations/{operation_id}/transcript', () => {
  it('gives the conversation with what is known of each message', async () => {
    const { runId, recordHash } = await ended()
    const view = TranscriptView.parse(await (await api.ask(addressOf(runId))).json())
    expect(view).toMatchObject({ run_id: runId, status: 'succeeded', record_hash: recordHash, attempt: 1 })
    expect(view.outcome).toMatchObject({ status: 'succeeded', tokens: { prompt: 4800, completion: 160 } })
    const kinds = 'message message model tool tool model message model model tool model tool'
    expect(view.entries.map(({ kind }) => kind).join(' ')).toBe(kinds)
    const [, , first, read, torn] = view.entries
    expect(first).toMatchObject({
      turn: 1,
      exchange: { started_at: '2026-01-02T03:04:06.000Z', first_token_ms: 100, tokens_per_s: 100 },
      reply: { raw: { id: 'reply 1' }, tool_calls: [{ id: 'call_0' }, { id: 'call_1', parsed_from_content: true }] },
    })
    expect(read).toMatchObject({ name: 'read_file', run: { printed: 'looked at a.py\n', script_ms: 3.21 } })
    expect(read).toMatchObject({ run: { host_calls: [{ answer: 'x'.repeat(200) }, { error: { message: 'b.py' } }] } })
    expect(torn).toMatchObject({ call_id: 'call_1', run: { outcome: 'error', error_code: 'AGENT_009' } })
    expect(view.entries[7]).toMatchObject({ turn: 3, reply: null, exchange: { error: { error_code: 'AGENT_007' } } })
    expect(view.entries[9]).toMatchObject({ name: 'submit_result', run: null })
    expect(view.entries[10]).toMatchObject({ turn: 4, reply: { raw: { id: 'reply 4' } }, exchange: { left_out: 3 } })
  })

  it('as Markdown shows nothing of a secret that it cuts', async () => {
    const { runId, attempt } = await underWay()
    const { value = '' } = plantedSecrets.find(({ kind }) => kind === 'GitLab token') ?? {}
    const cutWithin = `${'x'.repeat(150)} ${value} and more`
    const own = anEndedRecord()
    const [first, ...others] = own.tools
    if (first === undefined) throw new Error('the fixture has a tool')
    const externals = [{ name: 'read_file', args: ['a.py'], answer: cutWithin }]
    const record = { ...own, runId, tools: [{ ...first, externals }, ...others] }
    const recordHash = await putAttemptRecord(api.objects, api.project, record)
    await api.ledger.settle(attempt, 1, { outcome: { ...record.outcome, recordHash }, events: [] })
    const text = await (await api.ask(`${addressOf(runId)}?format=markdown`)).text()
    expect(text).toContain('x'.repeat(100))
    expect(text).not.toContain(value.slice(0, 8))
  })

  it.each([
    ['text/markdown', '', 'text/markdown; charset=utf-8'],
    ['text/markdown;q=0.5, application/json', '', 'application/json'],
    ['*/*', '', 'application/json'],
    ['*/*', '?format=markdown', 'text/markdown; charset=utf-8'],
    ['text/markdown', '?format=json', 'application/json'],
  ])('for Accept %s and "%s" answers with %s', async (accept, query, type) => {
    const { runId } = await ended()
    const answer = await api.ask(`${addressOf(runId)}${query}`, { headers: { accept } })
    expect([answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([type, 'Accept'])
    const text = await answer.text()
    expect(text.startsWith('# `lint` on `a.py` `total`\n')).toBe(type.startsWith('text/'))
  })

  it('shows an operation that waits up to its question', async () => {
    const { runId, attempt } = await underWay()
    const recordHash = await ask(attempt, 1)
    const view = TranscriptView.parse(await (await api.ask(addressOf(runId))).json())
    expect(view).toMatchObject({ status: 'waiting', outcome: null, record_hash: recordHash })
    expect(view.entries.at(-1)).toMatchObject({ kind: 'question', question: 'Shall I?\nIt is risky.', turn: 1 })
  })

  it('says of one that has not begun that it is still to come', async () => {
    const { runId } = await dispatched()
    const answer = await api.ask(addressOf(runId))
    const problem = await problemOf(answer)
    expect([answer.status, problem.error_code]).toEqual([409, 'RUN_006'])
    expect(problem.detail).toMatch(/yet: it is dispatched\.$/)
  })

  it('shows one under way as far as it is, and each attempt that left what it said', async () => {
    const { runId, attempt } = await underWay()
    const read = async (query = '') =>
      TranscriptView.parse(await (await api.ask(addressOf(runId, operationId) + query)).json())
    expect(await read()).toMatchObject({ status: 'running', attempts: [1], attempt: 1, entries: [], record_hash: null })
    await say(attempt, 1, { messages: 3, exchanges: 1 })
    await say(attempt, 2, { messages: 5, exchanges: 1, tools: 2 }, { messages: 3, exchanges: 1, tools: 0 })
    const view = await read()
    expect(view).toMatchObject({ model: 'small-model', outcome: null, started_at: '2026-01-02T03:04:05.000Z' })
    expect(view.entries.map(({ kind }) => kind)).toEqual(['message', 'message', 'model', 'tool', 'tool'])
    expect(view.entries[3]).toMatchObject({ name: 'read_file', run: { printed: 'looked at a.py\n' } })

    const second = await lost(runId)
    await say(second, 1, { messages: 2 })
    expect(await read()).toMatchObject({ attempt: 2, attempts: [1, 2], entries: [{}, {}] })
    expect((await read('?attempt=1')).entries).toEqual(view.entries)
    const text = await (await api.ask(`${addressOf(runId)}?attempt=1&format=markdown`)).text()
    expect(text).toContain('attempt 1 (others with a conversation of their own: 2)')
    expect(text).toMatch(/## Given up\n\nThe attempt was handed back, or its worker was lost\.\n$/)
    const problem = await problemOf(await api.ask(`${addressOf(runId)}?attempt=3`))
    expect(problem).toMatchObject({
      error_code: 'RUN_004',
      detail: expect.stringMatching(/attempt 3: it has had 2\. Attempts that have one: 1, 2\.$/),
    })
  })

  it('is whole while the attempt ends', async () => {
    const { runId, attempt } = await underWay()
    await say(attempt, 1, { messages: 3, exchanges: 1 })
    const { getOperation } = api.ledger
    api.ledger.getOperation = async (...which) => {
      api.ledger.getOperation = getOperation
      const before = await getOperation(...which)
      await settle(attempt)
      return before
    }
    const view = TranscriptView.parse(await (await api.ask(addressOf(runId))).json())
    expect(view.status).toBe('succeeded')
    expect(view.entries).toHaveLength(12)
  })

  it('says of one that ended without a record that there is none, and why', async () => {
    const runId = await playRun(api, [{ name: 'total', fails: { code: 'TOOL_004', reason: 'lost three workers' } }])
    const problem = await problemOf(await api.ask(addressOf(runId)))
    expect(problem).toMatchObject({ status: 404, error_code: 'RUN_004' })
    expect(problem.detail).toContain('it failed (TOOL_004 lost three workers) and its attempt left no record')
  })

  it('is STORE_003 when the record is gone', async () => {
    const { runId, recordHash } = await ended()
    await api.objects.deleteMany([objectKeys.attempt(api.project, recordHash)])
    const answer = await api.ask(addressOf(runId))
    expect([answer.status, (await problemOf(answer)).error_code]).toEqual([500, 'STORE_003'])
  })
})

it('leaves the texts of the prompts out where the service is told so', async () => {
  const discreet = await openTestApi(await testRedis(), await testObjects(), { fullPrompts: false })
  const { runId } = await conversationsOn(discreet).ended()
  const view = TranscriptView.parse(await (await discreet.ask(addressOf(runId))).json())
  await discreet.close()
  expect(view.entries.slice(0, 2)).toEqual([
    { kind: 'message', role: 'system', characters: 21, content: null },
    { kind: 'message', role: 'user', characters: 60, content: null },
  ])
})
