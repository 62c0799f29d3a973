import type { Message, ModelRequest, ToolDefinition } from '#domain/turn.ts'
import { longestText, mostNumber } from '../wire/bounded-tools.ts'
import { callFormat, type ConstraintKeys, literalKeys } from '../wire/call-constraint.ts'
import { toOpenAi } from '../wire/to-openai.ts'
import { allCapabilities, type Capabilities } from '../wire/capabilities.ts'

/** Logs, counters and rehearsed faults exclude a probe's requests by this `user`. */
export const probeUser = 'remora probe'

/** Enough for a call of the probe's tool: a server that cuts one short may answer 400 (vLLM issue 36794). */
const callTokens = 80
const fewTokens = 8
export const longestOverPlain = callTokens / fewTokens

const word = { type: 'string', enum: ['hello'] }
export const probeTool: ToolDefinition = {
  name: 'remora_probe',
  description: 'Does nothing.',
  parameters: { type: 'object', properties: { word }, required: ['word'] },
}
/** Most tools have an optional argument, which OpenAI's own servers refuse in strict ones. */
const optionalTool: ToolDefinition = {
  ...probeTool,
  parameters: { ...probeTool.parameters, properties: { word, note: { type: 'string' } } },
}
const strictTool: ToolDefinition = {
  ...probeTool,
  parameters: { ...probeTool.parameters, additionalProperties: false },
}

/** Has everything that a schema may be bounded by; the text is as long as any that is bounded. */
const boundedTool = (maxLength: number): ToolDefinition => ({
  ...strictTool,
  parameters: {
    ...strictTool.parameters,
    properties: {
      word,
      note: { type: 'string', maxLength },
      marks: { type: 'array', items: { type: 'string', maxLength: 64 }, maxItems: 8 },
      count: { type: 'integer', minimum: -mostNumber, maximum: mostNumber },
    },
  },
})

const unhindered: Capabilities = { ...allCapabilities, strictArguments: false, lengths: 'none' }

const hello: Message = { role: 'user', content: 'Say hello in one word. Do not call a tool.' }
/** Mistral's templates take only ids of nine letters and digits. */
const callId = 'probe0001'
const history: Message[] = [
  hello,
  {
    role: 'assistant',
    content: null,
    toolCalls: [{ id: callId, name: probeTool.name, arguments: '{"word":"hello"}' }],
  },
  { role: 'tool', toolCallId: callId, content: '{"result":"hello"}' },
]

const plainRequest = { messages: [hello], tools: [], toolChoice: 'auto', temperature: 0, maxTokens: fewTokens } as const
type Asking = Partial<Pick<ModelRequest, 'messages' | 'tools' | 'toolChoice' | 'maxTokens' | 'parallelCalls'>>

/** Returns the bodies that a probe sends, built as the pool's are. `choice` is a `tool_choice` that the server takes. */
export function probeRequests(model: string) {
  const body = (asking: Asking, { stream = false, capabilities = unhindered, keys = {} } = {}): string => {
    const { body: chat } = toOpenAi({ model, ...plainRequest, ...asking }, capabilities, { stream })
    return JSON.stringify({ ...chat, ...keys, user: probeUser })
  }
  const tools = [probeTool]
  const call = { tools, maxTokens: callTokens }
  const written = (keys: ConstraintKeys, capabilities: Capabilities) =>
    body(
      { ...(capabilities.tools ? call : { maxTokens: callTokens }), toolChoice: 'none' },
      { capabilities: { ...capabilities, strictArguments: false, lengths: 'none' }, keys },
    )
  return {
    plain: body({}),
    systemRole: body({ messages: [{ role: 'system', content: 'Be brief.' }, hello] }),
    streamUsage: body({}, { stream: true }),
    auto: body({ tools }),
    required: body({ ...call, toolChoice: 'required' }),
    named: body({ ...call, toolChoice: { name: probeTool.name } }),
    strictSchemas: (choice: KnownChoice) => body({ ...call, ...choice, tools: [strictTool] }),
    strictArguments: (choice: KnownChoice) =>
      body({ ...call, ...choice, tools: [optionalTool] }, { capabilities: { ...unhindered, strictArguments: true } }),
    parallelCalls: (choice: KnownChoice) => body({ ...call, ...choice, parallelCalls: false }),
    toolMessages: (choice: KnownChoice) => body({ ...call, ...choice, messages: history }),
    jsonSchema: (capabilities: Capabilities) =>
      written({ response_format: callFormat(tools, capabilities) }, capabilities),
    structuredOutputs: (capabilities: Capabilities) =>
      written(literalKeys({ json: callFormat(tools, capabilities).json_schema.schema }), capabilities),
    /** Bounds a text in the form in which a call will be held to its schema; returns undefined where it never is. */
    lengths: (length: keyof typeof longestText, capabilities: Capabilities) => {
      const bounded = [boundedTool(longestText[length])]
      const isHeldToTools = capabilities.tools && (capabilities.required === 'alone' || capabilities.named)
      if (isHeldToTools) {
        const toolChoice = capabilities.required === 'alone' ? 'required' : ({ name: probeTool.name } as const)
        const how: Capabilities = { ...capabilities, lengths: 'none' }
        return body({ tools: bounded, maxTokens: callTokens, toolChoice }, { capabilities: how })
      }
      if (!capabilities.jsonSchema) return undefined
      return written({ response_format: callFormat(bounded, capabilities) }, capabilities)
    },
  }
}

export type KnownChoice = Required<Pick<Asking, 'toolChoice' | 'maxTokens'>>

export function knownChoice({ auto, required }: Pick<Capabilities, 'auto' | 'required'>): KnownChoice {
  if (auto) return { toolChoice: 'auto', maxTokens: fewTokens }
  return { toolChoice: required !== 'none' ? 'required' : { name: probeTool.name }, maxTokens: callTokens }
}
