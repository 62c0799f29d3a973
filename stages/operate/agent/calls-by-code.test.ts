import { describe, expect, it } from 'vitest'
import type { Tool } from '../tools/tool-set.ts'
import type { Verification } from './submission.ts'
import { runAgent } from './run-agent.ts'
import { call, done, never, pathTool, scriptedAgent, type ScriptedReply } from './scripted-agent.fixture.ts'

const looks: Tool = {
  ...pathTool('look', 'reads', async () => done),
  definition: { name: 'look', description: 'look', parameters: { type: 'object', properties: {} } },
}
const failing = {
  ...done,
  result: { ...done.result, outcome: 'error' as const, summary: 'refused', error: 'too long' },
}
const answer = [call('write', { path: 'a' })]

function open(replies: ScriptedReply[], { write = done, look = done, gather = ['look'], verify }: How = {}) {
  const ran: unknown[] = []
  const tools = [
    { ...looks, run: async () => look },
    pathTool('write', 'writes', async ({ path }) => {
      ran.push(path)
      return write
    }),
  ]
  const oneTurn = { carryOut: 'write' }
  const opened = scriptedAgent(replies, { gather, oneTurn, maxTurns: 4, verifyAttempts: 0 }, tools)
  return { ...opened, ran, ending: runAgent({ ...opened.agent, verify }, never) }
}
type How = {
  write?: typeof done | typeof failing
  look?: typeof done | typeof failing
  gather?: string[]
  verify?: () => Promise<Verification>
}

describe('an agent of one turn', () => {
  it('gathers by code, asks once for the one call, carries it out and submits by code', async () => {
    const { ending, ran, requests, events, transcript } = open([answer])
    expect(await ending).toMatchObject({ kind: 'submitted', submission: { status: 'success', summary: 'ok' } })
    expect(ran).toEqual(['a'])
    expect(requests).toMatchObject([{ toolChoice: { name: 'write' } }])
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
    const told = events.flatMap(({ event, toolName, data }) => {
      const { turn, by_code: byCode }: Record<string, unknown> = data
      return event === 'tool.returned' ? [] : [[event, toolName, turn, byCode].filter((part) => part !== undefined)]
    })
    expect(told).toEqual([
      ['tool.called', 'look', 1, true],
      ['turn.finished', 1],
      ['model.requested', 2],
      ['model.responded', 2],
      ['tool.called', 'write', 2],
      ['turn.finished', 2],
      ['submission.received', 3, true],
      ['turn.finished', 3],
    ])
    expect(transcript.turns).toBe(1)
  })

  it('needs nothing to gather', async () => {
    const { ending, requests } = open([answer], { gather: [] })
    expect(await ending).toMatchObject({ kind: 'submitted' })
    expect(requests[0]?.messages).toHaveLength(2)
  })

  it.each([
    ['what the model wrote is refused', { write: failing }, 1],
    ['a tool that gathers fails', { look: failing }, 0],
  ])('submits that it failed when %s', async (_when, how, asked) => {
    const { ending, requests } = open([answer], how)
    expect(await ending).toMatchObject({ submission: { status: 'failed', summary: 'refused', error: 'too long' } })
    expect(requests).toHaveLength(asked)
  })

  it('carries out one call of its tool, and corrects a reply without one once', async () => {
    const several = [call('look', {}), ...answer, call('write', { path: 'b' }), call('submit_result', {})]
    const first = open([several])
    expect(await first.ending).toMatchObject({ submission: { status: 'success' } })
    expect(first.ran).toEqual(['a'])
    for (const reply of ['I would write it.', [call('look', {})], { content: 'long', finishReason: 'length' }]) {
      const helped = open([reply, answer])
      expect(await helped.ending).toMatchObject({ kind: 'submitted' })
      expect(helped.requests.at(-1)?.messages.at(-1)?.content).toContain('Call write and nothing else.')
      const unhelped = open([reply])
      expect(await unhelped.ending).toMatchObject({ kind: 'stopped', phase: 'model' })
      expect(unhelped.requests).toHaveLength(2)
    }
  })

  it('ends with what its verification finds', async () => {
    const { ending, requests } = open([answer], {
      verify: async () => ({ kind: 'fails', code: 'WORK_005', reason: 'a comment is gone' }),
    })
    expect(await ending).toMatchObject({ kind: 'stopped', code: 'WORK_005' })
    expect(requests).toHaveLength(1)
  })

  it('is continued where it stopped', async () => {
    const before = open([new Error('gone')])
    await expect(before.ending).rejects.toThrow('gone')
    const after = open([answer])
    const { transcript } = before
    const loop = {
      turn: 2,
      corrected: false,
      refusedSubmissions: 0,
      unverifiedSubmissions: 0,
      overstatedSubmissions: 0,
    }
    await runAgent({ ...after.agent, transcript, from: { loop } }, never)
    expect(transcript.toolRuns.map(({ name }) => name)).toEqual(['look', 'write'])
  })
})

describe('an agent with a tool that submits', () => {
  const proves = async (): Promise<Verification> => ({ kind: 'holds' })
  const refuses = async (): Promise<Verification> => ({ kind: 'fails', code: 'WORK_005', reason: 'a comment is gone' })
  const partial = { ...done, result: { ...done.result, outcome: 'partial' as const } }

  type Answer = typeof done | typeof failing | typeof partial
  function opened(
    replies: ScriptedReply[],
    { write = done, verify = proves }: { write?: Answer; verify?: typeof proves } = {},
  ) {
    const answers: Answer[] = [write, done]
    const tools = [looks, pathTool('write', 'writes', async () => answers.shift() ?? done)]
    const agent = scriptedAgent(replies, { gather: ['look'], submitting: ['write'] }, tools)
    return { ...agent, ending: runAgent({ ...agent.agent, verify }, never) }
  }

  it('asks once where all goes well: code gathers before it and submits after it', async () => {
    const { ending, requests, transcript } = opened([answer])
    expect(await ending).toMatchObject({ kind: 'submitted', submission: { status: 'success', summary: 'ok' } })
    expect(requests).toMatchObject([{ toolChoice: 'required' }])
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(transcript.turns).toBe(1)
  })

  it.each([
    ['fails', failing],
    ['has more to do', partial],
  ])('is asked again where its call %s', async (_when, write) => {
    const { ending, requests } = opened([answer], { write })
    expect(await ending).toMatchObject({ kind: 'submitted' })
    expect(requests).toHaveLength(2)
  })

  it('reads why its change is not proved, and goes on', async () => {
    let left = 1
    const { ending, requests } = opened([answer], { verify: async () => (left-- > 0 ? refuses() : proves()) })
    expect(await ending).toMatchObject({ kind: 'submitted' })
    expect(requests).toHaveLength(2)
    expect(requests[1]?.messages.at(-1)?.content).toContain('a comment is gone')
  })
})
