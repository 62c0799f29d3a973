import { describe, expect, it } from 'vitest'
import type { RequestedCall } from '#domain/turn.ts'
import { SuspendedLoop, type WaitingScript } from '#store/objects/attempt-record.ts'
import type { AnsweredScript, Tool } from '../tools/tool-set.ts'
import { runAgent, type AgentRun, type Ending, type Suspension } from './run-agent.ts'
import { firstMessages, openTranscript, type Transcript } from './open-transcript.ts'
import { call, done, never, scriptedAgent, submitting } from './scripted-agent.fixture.ts'

const question = { text: 'Which one?', choices: ['a', 'b'] }
const waiting: WaitingScript = {
  scriptHash: 'h',
  inputs: { n: 1 },
  journal: [{ name: 'read_file', args: ['a'], answer: 'text' }],
  asked: { name: 'ask_user', args: ['Which one?', ['a', 'b']] },
}
const ask = call('ask', {}, 'c2')
const submit = { ...submitting(), id: 'last' }
const askingReplies = [[call('count', {}, 'c1'), ask, call('count', {}, 'c3')], [submit]]

/** A turn of `count`, `ask`, `count`, then the submission. `ask` waits for a person as long as nobody has answered. */
function open(transcript: Transcript, from?: AgentRun['from'], replies = askingReplies, verify?: AgentRun['verify']) {
  const ran: (string | AnsweredScript)[] = []
  const tool = (name: string, effects: Tool['effects'], answer: Awaited<ReturnType<Tool['run']>>): Tool => ({
    definition: { name, description: name, parameters: { type: 'object', properties: {} } },
    effects,
    run: async () => (ran.push(name), answer),
    resume: async (given) => (ran.push(given), done),
  })
  const gated = { ...tool('write', 'writes', done), isAllowed: async () => false }
  const tools = [tool('count', 'reads', done), tool('ask', 'writes', { kind: 'suspended', question, waiting }), gated]
  const { agent, events } = scriptedAgent(replies.slice(transcript.turns), { maxTurns: 4 }, tools)
  return { ran, events, end: () => runAgent({ ...agent, transcript, verify, from }, never) }
}

function suspension(ending: Ending | Suspension): Suspension {
  if (ending.kind !== 'suspended') throw new Error(`it ended ${ending.kind}`)
  return ending
}

const toolIds = (transcript: Transcript) =>
  transcript.messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []))

describe('a loop whose tool asks a person', () => {
  it('goes on in another process: with the answer, then the other calls, then the model', async () => {
    const before = openTranscript({ messages: firstMessages('system', 'user') })
    const stored = JSON.stringify(suspension(await open(before).end()).loop)
    const loop = SuspendedLoop.parse(JSON.parse(stored))
    const { messages, replies, toolRuns, usage, model } = before
    const after = openTranscript({ messages, replies, tools: toolRuns, usage, model })
    const { end, ran, events } = open(after, { loop, answered: { waiting, answer: 'b' } })
    expect(await end()).toMatchObject({ kind: 'submitted' })
    expect(ran).toEqual([{ waiting, answer: 'b' }, 'count'])
    expect(toolIds(after)).toEqual(['c1', 'c2', 'c3', 'last'])
    expect(after.usage).toEqual({ promptTokens: 20, completionTokens: 4 })
    expect(events[0]).toMatchObject({ event: 'tool.called', toolName: 'ask', data: { resumed: true } })
    expect(events.filter(({ event }) => event === 'model.requested')).toHaveLength(1)
  })

  it.each([
    [{ verdict: 'allow' }, ['count', 'write', 'count'], undefined],
    [{ verdict: 'deny', reason: 'not on a Friday' }, ['count', 'count'], 'TOOL_008'],
  ] as const)('goes on with the verdict on a call, %o', async (verdict, calls, errorCode) => {
    const replies = [[call('count', {}, 'c1'), call('write', {}, 'c2'), call('count', {}, 'c3')], [submit]]
    const before = openTranscript({ messages: firstMessages('system', 'user') })
    const asked = suspension(await open(before, undefined, replies).end())
    expect(asked).toMatchObject({ question: { call: { tool: 'write', arguments: '{}' } } })
    const loop = SuspendedLoop.parse(JSON.parse(JSON.stringify(asked.loop)))
    const { messages, replies: raw, toolRuns, usage, model } = before
    const after = openTranscript({ messages, replies: raw, tools: toolRuns, usage, model })
    const { end, ran } = open(after, { loop, answered: { waiting: null, answer: verdict } }, replies)
    expect(await end()).toMatchObject({ kind: 'submitted' })
    expect(['count', ...ran]).toEqual(calls)
    expect(toolIds(after)).toEqual(['c1', 'c2', 'c3', 'last'])
    const denied = after.messages.find((message) => message.role === 'tool' && message.toolCallId === 'c2')
    expect(String(denied?.content).includes('not on a Friday')).toBe(errorCode !== undefined)
    expect(after.toolRuns.find(({ name }) => name === 'write')?.result.errorCode).toBe(errorCode)
  })

  it('counts a submission that was refused before the question in the same reply', async () => {
    const refused: RequestedCall = { ...submit, id: 'bad', arguments: '{"status":"odd"}' }
    const replies = Array.from({ length: 6 }, () => [refused, ask])
    const transcript = openTranscript({ messages: firstMessages('system', 'user') })
    let from: AgentRun['from']
    for (let attempt = 1; attempt <= 3; attempt++) {
      const { loop } = suspension(await open(transcript, from, replies).end())
      from = { loop: SuspendedLoop.parse(JSON.parse(JSON.stringify(loop))), answered: { waiting, answer: 'a' } }
    }
    const ending = await open(transcript, from, replies).end()
    expect(ending).toMatchObject({ kind: 'stopped', code: 'AGENT_005' })
    expect(transcript.turns).toBe(3)
  })

  it('counts a submission that did not hold before the question, and knows its code after the answer', async () => {
    const replies = Array.from({ length: 6 }, () => [submit, ask])
    const transcript = openTranscript({ messages: firstMessages('system', 'user') })
    const verify = async () => ({ kind: 'fails', code: 'WORK_005', reason: 'lint' }) as const
    let from: AgentRun['from']
    for (let attempt = 1; attempt <= 3; attempt++) {
      const { loop } = suspension(await open(transcript, from, replies, verify).end())
      from = { loop: SuspendedLoop.parse(JSON.parse(JSON.stringify(loop))), answered: { waiting, answer: 'a' } }
    }
    const ending = await open(transcript, from, replies, verify).end()
    expect(ending).toEqual({ kind: 'stopped', phase: 'submission', code: 'WORK_005', reason: 'lint' })
  })
})
