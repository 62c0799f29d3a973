import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { runAgent } from './run-agent.ts'
import { call, done, never, pathTool, scriptedAgent, submitting, type ScriptedReply } from './scripted-agent.fixture.ts'

const open = (replies: ScriptedReply[], maxTurns = 6) => scriptedAgent(replies, { maxTurns })

describe('the agent loop', () => {
  it('forces the submission on the last turn and ends with AGENT_004 without one', async () => {
    const { agent, requests } = open([[call('read_file', { path: 'a' })]], 3)
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'stopped', code: 'AGENT_004' })
    expect(requests.at(-1)?.toolChoice).toEqual({ name: 'submit_result' })
    expect(requests).toHaveLength(3)
  })

  it.each([1, 2, 3])('ends with AGENT_005 when the last of %i turns brings a refused submission', async (maxTurns) => {
    const { agent, requests } = open([[submitting('odd')]], maxTurns)
    const ending = await runAgent(agent, never)
    expect(ending).toMatchObject({ kind: 'stopped', code: 'AGENT_005', phase: 'submission' })
    expect(ending).toMatchObject({ reason: expect.stringContaining('got "odd"') })
    expect(requests).toHaveLength(maxTurns)
  })

  it.each([
    ['a refused submission', [submitting('odd')]],
    ['a reply without a call', 'I am done!'],
  ])('ends with AGENT_004 when the last turn runs a tool, after %s', async (_what, earlier) => {
    const { agent } = open([earlier, [call('read_file', { path: 'a' })]], 2)
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'stopped', code: 'AGENT_004' })
  })

  it.each([
    ['an unknown tool', call('delete_all', {}), 'TOOL_001'],
    ['arguments that are not JSON', { id: 'c1', name: 'read_file', arguments: '{"path": ' }, 'AGENT_009'],
    ['arguments off the schema', call('read_file', {}), 'TOOL_002'],
    [
      'arguments that are too deep',
      { id: 'c1', name: 'read_file', arguments: `{"path":${'['.repeat(10_000)}${']'.repeat(10_000)}}` },
      'TOOL_002',
    ],
  ])('tells the model about %s, runs nothing and goes on', async (_name, bad, code) => {
    const { agent, ran, events } = open([[bad], [submitting()]])
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'submitted' })
    expect(ran).toEqual([])
    expect(events.find((event) => event.event === 'tool.returned')).toMatchObject({ status: 'error', errorCode: code })
  })

  it('runs no tool with arguments that are too deep to be passed on, where its schema takes any', async () => {
    const takesAll = pathTool('note', 'writes', async () => done)
    const definition = { ...takesAll.definition, parameters: { type: 'object' } }
    const deep = { id: 'c1', name: 'note', arguments: `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}` }
    const { agent, events } = scriptedAgent([[deep], [submitting()]], {}, [{ ...takesAll, definition }])
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'submitted' })
    expect(events.find((event) => event.event === 'tool.returned')).toMatchObject({ errorCode: 'TOOL_002' })
  })

  it('tells no more of names that a model or its server wrote than a person would read', async () => {
    const long = 'x'.repeat(1e6)
    const named = { id: long, name: long, arguments: '{}' }
    const reply = { toolCalls: [named], finishReason: long, model: long, endpoint: long }
    const { agent, events } = open([reply, { callFault: long }, new Error(long)])
    await expect(runAgent(agent, never)).rejects.toThrow('x')
    expect(events.map(({ event }) => event)).toContain('tool.returned')
    const others = events.filter(({ event }) => event !== 'tool.returned') // it has the whole answer of the tool
    expect(Math.max(...others.map((event) => JSON.stringify(event).length))).toBeLessThan(5000)
    const ids = events.flatMap(({ data }: { data: Record<string, unknown> }) => data['call_id'] ?? [])
    expect(new Set(ids).size).toBe(1)
  })

  it('throws what the model pool throws, after saying that the request failed', async () => {
    const { agent, events } = open([])
    const fault = new AppError('AGENT_002', 'gone')
    agent.model = { complete: async () => Promise.reject(fault) }
    await expect(runAgent(agent, never)).rejects.toBe(fault)
    expect(events.at(-1)).toMatchObject({ event: 'model.responded', status: 'error', errorCode: 'AGENT_002' })
  })

  it('takes no code from an error that only looks like ours', async () => {
    const { agent, events } = open([])
    const fault = Object.assign(new Error('gone'), { name: 'AppError', code: 'NO_SUCH_CODE' })
    agent.model = { complete: async () => Promise.reject(fault) }
    await expect(runAgent(agent, never)).rejects.toBe(fault)
    expect(events.at(-1)).not.toHaveProperty('errorCode')
  })
})
