import type { Message, ModelRequest, ToolDefinition } from '#domain/turn.ts'
import { constraintKeys } from '../wire/call-constraint.ts'
import { toOpenAi } from '../wire/to-openai.ts'
import { allCapabilities, type Capabilities } from '../wire/capabilities.ts'

/** The `user` of a probe's requests: whoever counts, or rehearses faults, can leave them out. */
export const probeUser = 'remora probe'

/** Enough for a call of the probe's tool: a server that must cut one short may answer 400 (vLLM issue 36794). */
const callTokens = 80
/** What is not read need not be written. */
const fewTokens = 8
/** How much longer a request of a probe may take than its plain one. */
export const longestOverPlain = callTokens / fewTokens

const word = { type: 'string', enum: ['hello'] }
export const probeTool: ToolDefinition = {
  name: 'remora_probe',
  description: 'Does nothing.',
  parameters: { type: 'object', properties: { word }, required: ['word'] },
}
/** Most tools have an argument that may be absent, which OpenAI's own servers refuse of strict ones. */
const optionalTool: ToolDefinition = {
  ...probeTool,
  parameters: { ...probeTool.parameters, properties: { word, note: { type: 'string' } } },
}
const strictTool: ToolDefinition = {
  ...probeTool,
  parameters: { ...probeTool.parameters, additionalProperties: false },
}

/** A server that takes all but what only one of the requests asks for. */
const withoutStrict: Capabilities = { ...allCapabilities, strictArguments: false }

/** Names the tool and asks for words: who calls it nevertheless was made to. */
const asked: Message = { role: 'user', content: 'Say hello in one word. Do not call a tool.' }
/** Mistral's templates take no id that is not of nine letters and digits. */
const callId = 'probe0001'
const history: Message[] = [
  asked,
  {
    role: 'assistant',
    content: null,
    toolCalls: [{ id: callId, name: probeTool.name, arguments: '{"word":"hello"}' }],
  },
  { role: 'tool', toolCallId: callId, content: '{"result":"hello"}' },
]

type Asking = Partial<Pick<ModelRequest, 'messages' | 'tools' | 'toolChoice' | 'maxTokens' | 'parallelCalls'>>

/** What a probe sends for `model`, in the very words in which the pool asks later. */
export type ProbeRequests = ReturnType<typeof probeRequests>

/** `choice` is a `tool_choice` that the server is known to take, for the probes of other things. */
export function probeRequests(model: string) {
  const body = (asking: Asking, { stream = false, capabilities = withoutStrict } = {}): string => {
    const request = {
      model,
      messages: [asked],
      tools: [],
      toolChoice: 'auto',
      temperature: 0,
      maxTokens: fewTokens,
    } as const
    const { body: chat } = toOpenAi({ ...request, ...asking }, capabilities, { stream })
    return JSON.stringify({ ...chat, user: probeUser })
  }
  const tools = [probeTool]
  const call = { tools, maxTokens: callTokens }
  return {
    plain: body({}),
    systemRole: body({ messages: [{ role: 'system', content: 'Be brief.' }, asked] }),
    streamUsage: body({}, { stream: true }),
    auto: body({ tools }),
    required: body({ ...call, toolChoice: 'required' }),
    named: body({ ...call, toolChoice: { name: probeTool.name } }),
    strictSchemas: (choice: KnownChoice) => body({ ...call, ...choice, tools: [strictTool] }),
    strictArguments: (choice: KnownChoice) =>
      body({ ...call, ...choice, tools: [optionalTool] }, { capabilities: allCapabilities }),
    parallelCalls: (choice: KnownChoice) => body({ ...call, ...choice, parallelCalls: false }),
    toolMessages: (choice: KnownChoice) => body({ ...call, ...choice, messages: history }),
    constraint: (constraint: 'json_schema' | 'structural_tag' | 'ebnf', capabilities: Capabilities) => {
      const offered = capabilities.tools ? call : { maxTokens: callTokens }
      const keys = constraintKeys(constraint, { tools, optional: false, several: false }, capabilities)
      const { body: plain } = toOpenAi(
        { model, messages: [asked], temperature: 0, tools: [], toolChoice: 'none', ...offered },
        { ...capabilities, strictArguments: false },
        { stream: false },
      )
      return JSON.stringify({ ...plain, ...keys, user: probeUser })
    },
  }
}

export type KnownChoice = Required<Pick<Asking, 'toolChoice' | 'maxTokens'>>

/** The cheapest `tool_choice` of those that were taken. */
export function knownChoice({ auto, required }: Pick<Capabilities, 'auto' | 'required'>): KnownChoice {
  if (auto) return { toolChoice: 'auto', maxTokens: fewTokens }
  return { toolChoice: required ? 'required' : { name: probeTool.name }, maxTokens: callTokens }
}
