import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Problem } from '#schemas/problem-schema.ts'
import { TranscriptFrame, TranscriptView } from '#schemas/transcript-schema.ts'
import { openTestApi, type TestApi } from '../../app.fixture.ts'
import { plannedOperation, playRun, storeNodes, submitRun } from '../../played-run.fixture.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { putAttemptRecord, putUnfinishedAttempt } from '#store/objects/stored-records.ts'
import { anEvent } from '#testing/open-test-ledger.ts'
import { plantedSecrets } from '#testing/planted-secrets.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { aConversation, anAskingRecord, anEndedRecord } from './transcript.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

// So that nobody who follows a conversation finds what is new without a notice.
const api = useTestApi({ lookMs: 300_000 })

const { operationId } = plannedOperation('total')
const addressOf = (runId: string, id = operationId) => `/v1/runs/${runId}/operations/${id}/transcript`

type Claimed = Extract<Awaited<ReturnType<TestApi['ledger']['claim']>>, { kind: 'claimed' }>['attempt']

/** A run whose one operation is under way, and its attempt. */
async function underWay(on = api): Promise<{ runId: string; attempt: Claimed }> {
  const { runId, dispatch } = await dispatched(on)
  const answer = await on.ledger.claim({ runId, operationId, dispatch }, 'a token')
  if (answer.kind !== 'claimed') throw new Error(`the operation is ${answer.kind}`)
  return { runId, attempt: answer.attempt }
}

async function dispatched(on = api): Promise<{ runId: string; dispatch: number }> {
  const runId = await submitRun(on)
  const operation = plannedOperation('total')
  const from = [{ status: 'queued' as const }, { status: 'running' as const }]
  const move = (to: { status?: 'running'; phase: 'planning' | 'execution' }) =>
    on.ledger.move(runId, { from, to, command: to.phase, events: [anEvent()] })
  await move({ status: 'running', phase: 'planning' })
  await storeNodes(on, runId, [operation.node])
  await on.ledger.plan(runId, { slice: 0, operations: [operation], last: true })
  await move({ phase: 'execution' })
  const [taken] = (await on.ledger.dispatch(runId, 1)).taken
  if (taken === undefined) throw new Error('nothing was dispatched')
  return { runId, dispatch: taken.dispatch }
}

/** A run whose one operation ended with the record of the fixture. */
async function ended(on = api): Promise<{ runId: string; recordHash: string }> {
  const { runId, attempt } = await underWay(on)
  const record = { ...anEndedRecord(), runId }
  const recordHash = await putAttemptRecord(on.objects, on.project, record)
  await on.ledger.settle(attempt, 1, { outcome: { ...record.outcome, recordHash }, events: [] })
  return { runId, recordHash }
}

type Counts = Partial<Record<'messages' | 'exchanges' | 'tools', number>>

/** Has the attempt say this much of the fixture's conversation, from where it was. */
async function say(attempt: Claimed, n: number, to: Counts, from: Counts = {}): Promise<void> {
  const part = (name: keyof Counts) => aConversation[name].slice(from[name] ?? 0, to[name] ?? 0)
  const after = { messages: from.messages ?? 0, exchanges: from.exchanges ?? 0, tools: from.tools ?? 0 }
  const said = { messages: part('messages'), exchanges: part('exchanges'), tools: part('tools') }
  const talk = { startedAt: Date.UTC(2026, 0, 2, 3, 4, 5), after, ...said }
  await api.ledger.append(attempt, n, { events: [], talk })
}

async function next(runId: string): Promise<Claimed> {
  const [taken] = (await api.ledger.dispatch(runId, 1)).taken
  const answer = taken && (await api.ledger.claim({ runId, ...taken }, `token ${taken.dispatch}`))
  if (answer?.kind !== 'claimed') throw new Error('nothing was claimed')
  return answer.attempt
}

/** Loses the worker, and returns the next attempt. */
async function lost(runId: string): Promise<Claimed> {
  await api.ledger.sweep(runId, 'abandoned')
  return next(runId)
}

/** Has the attempt ask the question of the fixture, and returns the name of its record. */
async function ask(attempt: Claimed, n: number): Promise<string> {
  const record = { ...anAskingRecord(), runId: attempt.runId, attempt: attempt.attempt }
  const recordHash = await putUnfinishedAttempt(api.objects, api.project, record)
  const spent = { turns: 1, promptTokens: 1200, completionTokens: 40, durationMs: 700 }
  const { question } = record
  await api.ledger.suspend(attempt, n, { question, answerWithinMs: 60_000, recordHash, spent, events: [] })
  return recordHash
}

/** Answers the question, and returns the next attempt. */
async function answered(runId: string): Promise<Claimed> {
  const by = { kind: 'human', id: 'me' } as const
  await api.ledger.resume(runId, { requestId: 'q1', text: 'yes', by, command: 'that' })
  return next(runId)
}

const streaming = { headers: { accept: 'text/event-stream' } }

/** Follows a conversation. Call the returned function for the next frames, in brief. */
function follower(path: string, after?: string): (count: number) => Promise<string[]> {
  const init = after === undefined ? streaming : { headers: { ...streaming.headers, 'last-event-id': after } }
  const frames = framesOf(path, init)
  return async (count) => {
    const read: string[] = []
    while (read.length < count) {
      const frame = await frames.next()
      if (frame.done === true) throw new Error(`after ${read.join()} the stream is over`)
      read.push(frame.value)
    }
    return read
  }
}

async function* framesOf(path: string, init: RequestInit): AsyncGenerator<string, void> {
  const { body } = await api.ask(path, init)
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = `${text}${chunk}`.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, type] = /^event: (.*)$/m.exec(block) ?? []
      const data: unknown = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}')
      const { missed, status } = z.object({ missed: z.int().optional(), status: z.string().optional() }).parse(data)
      if (type !== undefined) yield `${type} ${missed ?? status}`
      else if (block.includes('data:')) yield inBrief(TranscriptFrame.parse({ type: 'event', event: data }))
    }
  }
}

function inBrief({ event: part }: z.infer<typeof TranscriptFrame>): string {
  return `${part?.attempt} ${part?.entry?.kind}`
}

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
      detail: expect.stringMatching(/attempt 3: its last one is 2; .*: 1, 2\.$/),
    })
  })

  it('follows one entry by entry over a hand-back and a question to its end, each entry once', async () => {
    const { runId, attempt } = await underWay()
    await say(attempt, 1, { messages: 3, exchanges: 1 })
    const follow = follower(addressOf(runId))
    expect(await follow(4)).toEqual(['connected 3', '1 message', '1 message', '1 model'])
    await say(attempt, 2, { messages: 4, exchanges: 1, tools: 1 }, { messages: 3, exchanges: 1 })
    expect(await follow(1)).toEqual(['1 tool'])
    const second = await lost(runId)
    await say(second, 1, { messages: 3, exchanges: 1 })
    expect(await follow(3)).toEqual(['2 message', '2 message', '2 model'])

    await ask(second, 2)
    expect(await follow(1)).toEqual(['2 question'])
    const third = await answered(runId)
    await say(third, 1, { messages: 5, exchanges: 1, tools: 2 })
    expect(await follow(2)).toEqual(['3 tool', '3 tool'])
    const resumed = follower(addressOf(runId), '2-3.1')
    expect(await resumed(3)).toEqual(['connected 2', '3 tool', '3 tool'])

    const record = { ...anEndedRecord(), runId, attempt: 3 }
    const stored = await putAttemptRecord(api.objects, api.project, record)
    await api.ledger.settle(third, 2, { outcome: { ...record.outcome, recordHash: stored }, events: [] })
    const rest = [...'model message model model tool model tool'.split(' ').map((kind) => `3 ${kind}`), 'end succeeded']
    expect(await follow(rest.length)).toEqual(rest)
    const markdown = await (await api.ask(`${addressOf(runId)}?format=markdown&attempt=3`, streaming)).text()
    expect(markdown).toContain('## Outcome: succeeded')
    expect(markdown).toContain('event: end')
  })

  it.each([
    ['alone', false],
    ['beside one who has followed it from the start', true],
  ])('goes on over a question from where a reader was, %s', async (_who, isFollowed) => {
    const { runId, attempt } = await underWay()
    await say(attempt, 1, { messages: 3, exchanges: 1 })
    const early = follower(addressOf(runId))
    if (isFollowed) await early(4)
    await ask(attempt, 2)
    if (isFollowed) await early(1)
    await say(await answered(runId), 1, { messages: 5, exchanges: 1, tools: 2 })
    if (isFollowed) expect(await early(2)).toEqual(['2 tool', '2 tool'])
    for (const id of ['1-3', '1-3.1']) {
      const resumed = (await follower(addressOf(runId), id)(3)).filter((frame) => frame !== '1 question')
      expect(resumed.slice(0, 2)).toEqual(['connected 2', '2 tool'])
    }
    const second = await follower(`${addressOf(runId)}?attempt=2`)(isFollowed ? 7 : 6)
    const question = isFollowed ? ['question'] : []
    const kinds = ['5', 'message', 'message', 'model', ...question, 'tool', 'tool']
    expect(second.map((frame) => frame.split(' ')[1])).toEqual(kinds)
  })

  it('ends for all who follow one that has ended, also beside one that is slow', async () => {
    const { runId } = await ended()
    const slow = (await api.ask(addressOf(runId), streaming)).body?.getReader()
    for (const _ of ['connected', 'the entries']) await slow?.read()
    expect(await (await api.ask(addressOf(runId), streaming)).text()).toContain('event: end')
    await slow?.cancel()
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
  const { runId } = await ended(discreet)
  const view = TranscriptView.parse(await (await discreet.ask(addressOf(runId))).json())
  await discreet.close()
  expect(view.entries.slice(0, 2)).toEqual([
    { kind: 'message', role: 'system', characters: 21, content: null },
    { kind: 'message', role: 'user', characters: 60, content: null },
  ])
})
