import type { ModelReply, ModelRequest, RequestedCall } from '#domain/turn.ts'
import type { Tool, ToolSet } from '../tools/tool-set.ts'
import type { AgentSettings } from './agent-settings.ts'
import { journalOver, type AgentEvent } from './journal.ts'
import type { AgentRun } from './run-agent.ts'
import { firstMessages, openTranscript } from './open-transcript.ts'

/** A reply of a scripted model: calls, text, parts of a reply, or a failure of the request. */
export type ScriptedReply = RequestedCall[] | string | Partial<ModelReply> | Error

export const call = (name: string, args: unknown, id = 'c1'): RequestedCall => ({
  id,
  name,
  arguments: JSON.stringify(args),
})
export const submitting = (status: unknown = 'success', more: object = {}): RequestedCall =>
  call('submit_result', { status, summary: 'done', ...more })

export const done = {
  kind: 'done' as const,
  result: { outcome: 'success' as const, result: 1, summary: 'ok', knowledgeDelta: {} },
  externals: [],
}

export const never = new AbortController().signal

const plainSettings: AgentSettings = {
  model: 'm',
  temperature: 0,
  toolChoice: 'required',
  maxTokens: 100,
  maxTurns: 6,
  gather: [],
  submitting: [],
  maxMessages: 40,
  maxContextTokens: 32_000,
  parallelTools: 4,
  verifyAttempts: 2,
}

/** A model that gives one of the listed replies per request, the last one for ever. It records copies of the requests. */
export function scriptedModel(replies: readonly ScriptedReply[]) {
  const requests: ModelRequest[] = []
  const complete = async (request: ModelRequest): Promise<ModelReply> => {
    requests.push({ ...request, messages: [...request.messages] })
    const next = replies[Math.min(requests.length, replies.length) - 1] ?? []
    if (next instanceof Error) throw next
    return { ...emptyReply, ...partsOf(next) }
  }
  return { requests, complete }
}

const emptyReply: ModelReply = {
  model: 'scripted',
  content: null,
  toolCalls: [],
  finishReason: 'stop',
  usage: { promptTokens: 10, completionTokens: 2 },
  endpoint: 'e',
  tries: 1,
  latencyMs: 0,
  raw: {},
}

function partsOf(reply: Exclude<ScriptedReply, Error>): Partial<ModelReply> {
  if (typeof reply === 'string') return { content: reply }
  return Array.isArray(reply) ? { toolCalls: reply } : reply
}

/** A tool of one required `path`. */
export function pathTool(name: string, effects: Tool['effects'], run: Tool['run']): Tool {
  const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
  return { definition: { name, description: name, parameters }, effects, run, resume: async () => done }
}

/** An agent with a scripted model. Without `given` tools it has `read_file`, which records its paths in `ran`. */
export function scriptedAgent(
  replies: readonly ScriptedReply[],
  settings: Partial<AgentSettings> = {},
  given?: Tool[],
) {
  const ran: string[] = []
  const events: AgentEvent[] = []
  const reads = pathTool('read_file', 'reads', async ({ path }) => {
    ran.push(String(path))
    return done
  })
  const known = given ?? [reads]
  const tools: ToolSet = {
    definitions: known.map(({ definition }) => definition),
    get: (name) => known.find(({ definition }) => definition.name === name),
  }
  const model = scriptedModel(replies)
  const transcript = openTranscript({ messages: firstMessages('system', 'user') })
  const journal = journalOver((event) => void events.push(event))
  const agent: AgentRun = { transcript, tools, model, settings: { ...plainSettings, ...settings }, journal }
  const received = () => events.filter(({ event }) => event === 'submission.received')
  return { agent, ran, events, received, transcript, requests: model.requests }
}
