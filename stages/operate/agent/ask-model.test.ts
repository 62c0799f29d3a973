import { describe, expect, it } from 'vitest'
import { AppError, ContextOverflow } from '#domain/error.ts'
import { runAgent } from './run-agent.ts'
import { call, never, scriptedAgent, submitting } from './scripted-agent.fixture.ts'

const reads = (count: number) =>
  Array.from({ length: count }, (_, at) => [call('read_file', { path: `${at}` }, `c${at}`)])
const tooLong = () => new AppError('AGENT_007', 'e: too long', { cause: new ContextOverflow('too long', undefined) })

describe('a request of the loop', () => {
  it('carries the tool choice and the prefix key', async () => {
    const settings = { parallelCalls: false, constraint: 'json_schema', prefixKey: 'hash', temperature: 0.5 } as const
    const { agent, requests, events } = scriptedAgent([[submitting()]], { ...settings, toolChoice: 'auto' })
    await runAgent(agent, never)
    expect(requests[0]).toMatchObject({ ...settings, toolChoice: 'auto', maxTokens: 100, model: 'm' })
    expect(events[0]?.data).toMatchObject({ tool_choice: 'auto', messages: 2 })
    expect(events[0]?.data).not.toHaveProperty('left_out')
  })

  it('asks for no call where there are no tools', async () => {
    const { agent, requests } = scriptedAgent(['hello'], { maxTurns: 2 }, [])
    expect(await runAgent(agent, never)).toMatchObject({ code: 'AGENT_003' })
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(['none', 'none'])
  })

  it('holds no more messages than the bundle allows; the record and the events count the others', async () => {
    const { agent, requests, events, transcript } = scriptedAgent([...reads(8), [submitting()]], {
      maxMessages: 8,
      maxTurns: 20,
    })
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'submitted' })
    const sizes = requests.map(({ messages }) => messages.length)
    expect(sizes).toEqual([2, 4, 6, 8, 6, 8, 6, 8, 6])
    expect(transcript.exchanges.map(({ messages, leftOut }) => [messages, leftOut]).at(-1)).toEqual([6, 12])
    const asked = events.filter(({ event }) => event === 'model.requested').map(({ data }) => data)
    expect(asked.at(-1)).toMatchObject({ messages: 6, left_out: 12 })
    expect(transcript.messages).toHaveLength(2 + 2 * 9)
  })

  it('keeps below the context of the model, with room for its answer', async () => {
    const replies = [...reads(8), [submitting()]]
    const { agent, requests } = scriptedAgent(replies, { maxTurns: 20 })
    const asked: string[] = []
    agent.model.contextTokens = async (model) => {
      asked.push(model)
      return 350
    }
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'submitted' })
    expect(asked).toEqual(['m'])
    expect(Math.max(...requests.map(({ messages }) => messages.length))).toBeLessThan(18)
  })

  it('is not sent when the least of the conversation is over the limit: AGENT_007 says both numbers', async () => {
    const { agent, requests } = scriptedAgent([[submitting()]], { maxContextTokens: 20 })
    await expect(runAgent(agent, never)).rejects.toMatchObject({
      code: 'AGENT_007',
      message: expect.stringMatching(/needs at least \d+ tokens, more than the 20 it may have/),
    })
    expect(requests).toEqual([])
  })
})

describe('a request that the server finds too long', () => {
  it('is asked again with half of the conversation, as a request of its own', async () => {
    const { agent, requests, events, transcript } = scriptedAgent([...reads(5), tooLong(), [submitting()]])
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'submitted' })
    expect(requests.map(({ messages }) => messages.length)).toEqual([2, 4, 6, 8, 10, 12, 6])
    expect(transcript.exchanges.slice(-2)).toMatchObject([
      { turn: 6, error: { code: 'AGENT_007' } },
      { turn: 6, leftOut: 6 },
    ])
    const of = (name: string) => events.filter(({ event }) => event === name).length
    expect([of('model.requested'), of('model.responded')]).toEqual([7, 7])
  })

  it('fails with AGENT_007 when half is too long, too', async () => {
    const { agent, requests } = scriptedAgent([...reads(5), tooLong()])
    await expect(runAgent(agent, never)).rejects.toMatchObject({ code: 'AGENT_007' })
    expect(requests).toHaveLength(7)
  })

  it('fails at once with AGENT_007 when there is nothing to leave out', async () => {
    const { agent, requests } = scriptedAgent([tooLong()])
    await expect(runAgent(agent, never)).rejects.toMatchObject({ code: 'AGENT_007' })
    expect(requests).toHaveLength(1)
  })

  it('is not asked again when it was the reply that was too large', async () => {
    const { agent, requests } = scriptedAgent([...reads(3), new AppError('AGENT_007', 'the answer is too large')])
    await expect(runAgent(agent, never)).rejects.toMatchObject({ code: 'AGENT_007' })
    expect(requests).toHaveLength(4)
  })
})
