import { describe, expect, it } from 'vitest'
import type { ModelReply, RequestedCall } from '#domain/turn.ts'
import { SuspendedLoop, type WaitingScript } from '#store/objects/attempt-record.ts'
import type { AnsweredScript, ExecutedCall, ToolSet } from '../tools/tool-set.ts'
import { journalOver, type AgentEvent } from './journal.ts'
import { runAgent, type AgentRun, type Ending, type Suspension } from './run-agent.ts'
import { firstMessages, openTranscript, type Transcript } from './open-transcript.ts'

const limits = { maxMessages: 40, maxContextTokens: 32_000, parallelTools: 4, verifyAttempts: 2 }
const never = new AbortController().signal
const question = { text: 'Which one?', choices: ['a', 'b'] }
const waiting: WaitingScript = {
  scriptHash: 'h',
  inputs: { n: 1 },
  journal: [{ name: 'read_file', args: ['a'], answer: 'text' }],
  asked: { name: 'ask_user', args: ['Which one?', ['a', 'b']] },
}
const call = (id: string, name: string): RequestedCall => ({ id, name, arguments: '{}' })
const submit: RequestedCall = {
  id: 'last',
  name: 'submit_result',
  arguments: JSON.stringify({ status: 'success', summary: 'done' }),
}

function answered(summary: string): ExecutedCall {
  return { kind: 'done', result: { outcome: 'success', result: null, summary, knowledgeDelta: {} }, externals: [] }
}

const askingReplies = [[call('c1', 'count'), call('c2', 'ask'), call('c3', 'count')], [submit]]

/** A turn of `count`, `ask`, `count`, then the submission. `ask` waits for a person as long as nobody has answered. */
function open(transcript: Transcript, from?: AgentRun['from'], replies = askingReplies, verify?: AgentRun['verify']) {
  const ran: (string | AnsweredScript)[] = []
  const events: AgentEvent[] = []
  const definition = (name: string) => ({ name, description: name, parameters: { type: 'object', properties: {} } })
  const tools: ToolSet = {
    definitions: [definition('count'), definition('ask')],
    get: (name) => ({
      definition: definition(name),
      effects: name === 'ask' ? 'writes' : 'reads',
      async run() {
        ran.push(name)
        return name === 'ask' ? { kind: 'suspended', question, waiting } : answered(name)
      },
      async resume(given) {
        ran.push(given)
        return answered(given.answer)
      },
    }),
  }
  const complete = async (): Promise<ModelReply> => ({
    model: 'scripted',
    content: null,
    toolCalls: replies[transcript.turns] ?? [],
    finishReason: 'stop',
    usage: { promptTokens: 10, completionTokens: 1 },
    endpoint: 'e',
    tries: 1,
    latencyMs: 0,
    raw: {},
  })
  const settings = {
    model: 'm',
    temperature: 0,
    toolChoice: 'required' as const,
    maxTokens: 100,
    maxTurns: 4,
    ...limits,
  }
  const journal = journalOver((event) => void events.push(event))
  const end = () => runAgent({ transcript, tools, model: { complete }, settings, journal, verify, from }, never)
  return { ran, events, end }
}

function suspension(ending: Ending | Suspension): Suspension {
  if (ending.kind !== 'suspended') throw new Error(`it ended ${ending.kind}`)
  return ending
}

const toolIds = (transcript: Transcript) =>
  transcript.messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []))

describe('a loop whose tool asks a person', () => {
  it('stops with the calls that are still to be run, the one that waits first', async () => {
    const transcript = openTranscript({ messages: firstMessages('system', 'user') })
    const { end, ran, events } = open(transcript)
    const { loop, question: asked, waiting: script } = suspension(await end())
    expect(ran).toEqual(['count', 'ask'])
    expect(toolIds(transcript)).toEqual(['c1'])
    expect(loop.calls.map(({ id }) => id)).toEqual(['c2', 'c3'])
    expect({ asked, script }).toEqual({ asked: question, script: waiting })
    expect(events.map(({ event }) => event).at(-1)).toBe('tool.called')
  })

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
    expect(after.usage).toEqual({ promptTokens: 20, completionTokens: 2 })
    expect(events[0]).toMatchObject({ event: 'tool.called', toolName: 'ask', data: { resumed: true } })
    expect(events.filter(({ event }) => event === 'model.requested')).toHaveLength(1)
  })

  it('counts a submission that was refused before the question in the same reply', async () => {
    const refused: RequestedCall = { ...submit, id: 'bad', arguments: '{"status":"odd"}' }
    const replies = Array.from({ length: 6 }, () => [refused, call('c2', 'ask')])
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
    const replies = Array.from({ length: 6 }, () => [submit, call('c2', 'ask')])
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
