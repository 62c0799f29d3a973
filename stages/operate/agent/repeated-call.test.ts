import { describe, expect, it } from 'vitest'
import type { Tool } from '../tools/tool-set.ts'
import { openTranscript } from './open-transcript.ts'
import { repeatNote } from './repeated-call.ts'
import { runAgent } from './run-agent.ts'
import { call, done, never, pathTool, scriptedAgent, submitting, type ScriptedReply } from './scripted-agent.fixture.ts'

const readA = [call('read_file', { path: 'a' })]
const readB = [call('read_file', { path: 'b' })]
const failing = { ...done, result: { ...done.result, outcome: 'error' as const, error: 'no' } }

function counting(name: string, effects: Tool['effects'], most = Infinity): Tool {
  let count = 0
  return pathTool(name, effects, async () => ({ ...done, result: { ...done.result, result: Math.min(++count, most) } }))
}

async function run(replies: ScriptedReply[], tools?: Tool[], maxTurns = 10) {
  const opened = scriptedAgent(replies, { maxTurns }, tools)
  const ending = await runAgent(opened.agent, never)
  const told = opened.transcript.messages.flatMap(({ role, content }) =>
    role === 'tool' ? [content.includes(repeatNote)] : [],
  )
  return { ...opened, ending, told }
}

describe('a model that repeats itself', () => {
  it('is told with the second same answer, and may only submit after the third', async () => {
    const { ending, told, requests, events } = await run([readA])
    expect(told).toEqual([false, true, true, true])
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual([
      'required',
      'required',
      'required',
      { name: 'submit_result' },
    ])
    expect(ending).toMatchObject({ kind: 'stopped', code: 'AGENT_004', reason: expect.stringContaining('read_file') })
    const finished = events
      .filter(({ event }) => event === 'turn.finished')
      .map(({ data: { turn, repeated } }: { data: Record<string, unknown> }) => [turn, repeated])
    expect(finished).toEqual([
      [1, undefined],
      [2, undefined],
      [3, 'read_file'],
      [10, 'read_file'],
    ])
  })

  it('ends well when it submits in that turn, or does something else before', async () => {
    expect((await run([readA, readA, readA, [submitting()]])).ending).toMatchObject({ kind: 'submitted' })
    const helped = await run([readA, readA, readB, [submitting()]])
    expect([helped.ending.kind, helped.told]).toEqual(['submitted', [false, true, false, false]])
  })

  it('is noticed when it takes turns with two calls, writes arguments in another order, or is refused', async () => {
    const pair = (args: object) => [call('read_file', args)]
    expect((await run([readA, readB, readA, readB, readA, [submitting()]])).told).toEqual([
      false,
      false,
      true,
      true,
      true,
      false,
    ])
    const ordered = await run([pair({ path: 'a', more: 1 }), pair({ more: 1, path: 'a' }), [submitting()]])
    expect(ordered.told).toEqual([false, true, false])
    const unknown = await run([[call('no_tool', {})]])
    expect(unknown.ending).toMatchObject({ code: 'AGENT_004', reason: expect.stringContaining('no_tool') })
    const refused = await run(
      [[call('write_file', { path: 'a' })]],
      [pathTool('write_file', 'writes', async () => failing)],
    )
    expect(refused.requests).toHaveLength(4)
  })

  it('is not one that polls an answer which changes, or reads again after a write', async () => {
    const polled = await run([readA], [counting('read_file', 'reads')])
    expect(polled.told).not.toContain(true)
    expect(polled.requests).toHaveLength(10)
    const settled = await run([readA], [counting('read_file', 'reads', 3)])
    expect(settled.told.slice(0, 4)).toEqual([false, false, false, true])
    const writes = [call('write_file', { path: 'a' })]
    const tools = [pathTool('read_file', 'reads', async () => done), counting('write_file', 'writes')]
    const read = await run([readA, writes, readA, writes, readA, writes, readA, [submitting()]], tools)
    expect([read.ending.kind, read.told]).toEqual(['submitted', Array.from({ length: 8 }, () => false)])
  })

  it('is not one that makes the same call several times in one reply', async () => {
    const three = ['c1', 'c2', 'c3'].map((id) => call('read_file', { path: 'a' }, id))
    expect((await run([three, [submitting()]])).told).toEqual([false, false, false, false])
  })

  it('is known to an attempt that continues its own, and not to a new one', async () => {
    const before = scriptedAgent([readA, readA, new Error('gone')])
    await expect(runAgent(before.agent, never)).rejects.toThrow('gone')
    const { messages, toolRuns: tools } = before.transcript
    const goOn = async (start: Parameters<typeof openTranscript>[0]) => {
      const after = scriptedAgent([readA, [submitting()]], { maxTurns: 10 })
      const transcript = openTranscript(start)
      const loop = {
        turn: 3,
        corrected: false,
        refusedSubmissions: 0,
        unverifiedSubmissions: 0,
        overstatedSubmissions: 0,
      }
      await runAgent({ ...after.agent, transcript, from: { loop } }, never)
      return after.requests.map(({ toolChoice }) => toolChoice)
    }
    expect(await goOn({ messages, tools })).toEqual(['required', { name: 'submit_result' }])
    expect(await goOn({ messages })).toEqual(['required', 'required'])
  })
})
