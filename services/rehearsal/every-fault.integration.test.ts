import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { openModelPool, type ModelPool } from '#models/model-pool.ts'
import { until } from '#testing/until.ts'
import { faultNames, type FaultName } from './faults.ts'
import { startRehearsal, type Rehearsal } from './rehearsal-server.ts'

let rehearsal: Rehearsal
let pool: ModelPool | undefined
beforeAll(async () => {
  rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
})
afterEach(() => pool?.close())
afterAll(() => rehearsal.close())

const aNumber: unknown = expect.any(Number)
const readCall = { name: 'read_file', arguments: '{"path":"a.py"}' }
const reply = { workarounds: [], usage: { promptTokens: aNumber, completionTokens: aNumber }, raw: { choices: [{}] } }
const called = { ...reply, toolCalls: [readCall] }
const calledInContent = { ...reply, toolCalls: [{ ...readCall, parsedFromContent: true }] }
const failed = (code: string) => ({ code, phase: 'model', message: expect.stringMatching(/^http:.*\/v1: /) })

/** How a request with each fault ends: with a code, or with a reply that holds this. */
const endings: Record<FaultName, object> = {
  latency: failed('AGENT_002'),
  '403': failed('AGENT_002'),
  '429': failed('AGENT_002'),
  '503': failed('AGENT_002'),
  '529': failed('AGENT_002'),
  reset: failed('AGENT_002'),
  hang: failed('AGENT_002'),
  truncated: failed('AGENT_008'),
  json_in_content: { ...calledInContent, content: null },
  malformed_arguments: { toolCalls: [{ name: 'read_file', arguments: expect.stringMatching(/"cut": "o$/) }] },
  unknown_tool: { toolCalls: [{ name: 'no_such_tool' }] },
  no_tool_call: { toolCalls: [], content: expect.any(String), finishReason: 'stop' },
  oversized: failed('AGENT_007'),
  hermes_in_content: { ...calledInContent, content: 'I call read_file.' },
  functiongemma_in_content: { ...calledInContent, content: null },
  qwen_in_content: { ...calledInContent, content: null },
  cut_call_in_content: { toolCalls: [], callFault: expect.any(String), finishReason: 'length' },
  parallel_calls: { ...reply, toolCalls: [readCall, readCall] },
  no_done: called,
  crlf: called,
  split_bytes: called,
  no_usage: { ...called, workarounds: ['usage estimated'] },
  stall: failed('AGENT_002'),
  error_in_stream: failed('AGENT_002'),
}
/** Faults that only a time limit ends; the others must not fail because a machine is busy. */
const ofTime: readonly FaultName[] = ['latency', 'hang', 'stall']

function request(fault: FaultName): ModelRequest {
  return {
    model: 'rehearsal',
    messages: [{ role: 'user', content: `Read a.py [[rehearsal:fault=${fault}]]` }],
    tools: ['read_file', 'write_file', 'submit_result'].map((name) => ({ name, description: name, parameters: {} })),
    toolChoice: 'required',
    temperature: 0,
    maxTokens: 100,
  }
}

/** A retry budget so short that no second try may start, not even one without a back-off. */
const oneTryMs = -1
const maxInFlight = 1
/** Idle ones that may be used again: of a turn and the one after it, of the probe's two requests, of two other questions. */
const maxSockets = 2 * maxInFlight + 4
/** A request that could not be answered is followed by a probe that judges the model, unless the server has said when to ask again. */
const judged: readonly FaultName[] = ['latency', '403', '503', '529', 'reset', 'hang', 'stall', 'error_in_stream']
/** The probe had used the socket before, so its reset does not count as a try. */
const sentFor = (fault: FaultName) => 1 + (fault === 'reset' ? 1 : 0) + (judged.includes(fault) ? 1 : 0)
const never = new AbortController().signal

describe.each([
  { how: 'unstreamed', stream: false },
  { how: 'streamed', stream: true },
])('a fault in answers that come $how', ({ stream }) => {
  it.each(faultNames)('%s ends as it must, within its budget of one try, and leaves nothing open', async (fault) => {
    const before = await rehearsal.load()
    const requestTimeoutMs = ofTime.includes(fault) ? 400 : 20_000
    const limits = { requestTimeoutMs, retryBudgetMs: oneTryMs, maxInFlight }
    pool = openModelPool({ endpoints: [{ url: rehearsal.url }], ...limits, stream })
    const ended = await pool.complete(request(fault), never).catch((error: unknown) => error)
    const timed = stream && 'toolCalls' in endings[fault] ? { firstTokenMs: aNumber } : {}
    expect(ended).toMatchObject({ ...endings[fault], ...timed })
    // Before the pool is closed no request is open, and there are no more sockets than idle ones that may be reused.
    await until(() => rehearsal.load(), { holds: ({ unanswered }) => unanswered === 0 })
    const { asked, sockets } = await rehearsal.load()
    expect(asked - before.asked).toBe(sentFor(fault))
    expect(sockets).toBeLessThanOrEqual(maxSockets)
    await pool.close()
    await until(() => rehearsal.load(), { holds: (load) => load.sockets === 0 })
  })
})

describe('a stream', () => {
  it('holds the same message as the answer at once', async () => {
    const messages: unknown[] = []
    for (const stream of [false, true]) {
      const limits = { requestTimeoutMs: 20_000, retryBudgetMs: 0, maxInFlight: 1 }
      const own = openModelPool({ endpoints: [{ url: rehearsal.url }], ...limits, stream })
      const { raw } = await own.complete(request('parallel_calls'), never)
      await own.close()
      messages.push(Object(raw).choices[0].message)
    }
    expect(messages[1]).toEqual(messages[0])
  })
})
