import { z } from 'zod'
import { isRecord, parseJson } from '#domain/json.ts'
import {
  charactersPerToken,
  type Message,
  type ModelReply,
  type ModelRequest,
  type RequestedCall,
  type ToolDefinition,
} from '#domain/turn.ts'
import { readWrittenJson } from '#domain/written-json.ts'
import { argumentsText } from './content/content-reading.ts'
import { parseContent, type ParsedContent } from './content/parse-content.ts'
import { brokenReply } from './try-failure.ts'

const Thinking = z.union([z.string(), z.array(z.looseObject({ text: z.string().nullish() }))])
/** Mistral's models answer with a list of parts, among them their thoughts. */
export const Content = z.union([
  z.string(),
  z.array(z.looseObject({ type: z.string(), text: z.string().nullish(), thinking: Thinking.nullish() })),
])
export type Content = z.infer<typeof Content>

const Call = z.object({
  id: z.string().nullish(),
  function: z.object({
    name: z.string(),
    // Some servers send the arguments as an object, or nothing for a tool without any.
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  }),
})
type Call = z.infer<typeof Call>

const Choice = z.object({
  message: z.looseObject({ content: Content.nullish(), tool_calls: z.array(Call).nullish() }),
  finish_reason: z.string().nullish(),
})

const Usage = z.object({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() })
type Usage = z.infer<typeof Usage>

const Completion = z.object({ model: z.string().nullish(), choices: z.tuple([Choice], Choice), usage: Usage.nullish() })

/** Each is events, a result and a part of the record; a model that makes ten or more repeats itself. */
export const maxCalls = 64
/** This is longer than any name or id in use (tools 64, ids 46, models some 100), and short enough for every event and line. */
const maxNameLength = 256
/** No context holds as many; a sum of them is still a whole number. */
const maxTokens = 1_000_000_000

type ReadReply = Omit<ModelReply, 'endpoint' | 'tries' | 'latencyMs' | 'firstTokenMs' | 'workarounds'> & {
  workarounds: readonly string[]
}

/**
 * Reads the first choice of a chat completion. AGENT_008 when it is none, or has more than `maxCalls`. Names that are too long
 * are cut, and every call gets an id that no other of the conversation has. Without calls of its own, calls in the content
 * become calls; one that is not whole is `callFault`. Tokens not counted are estimated, which `workarounds` says.
 */
export function fromOpenAi(raw: unknown, request: ModelRequest): ReadReply {
  const parsed = Completion.safeParse(raw)
  if (!parsed.success) throw notACompletion(parsed.error)
  const { model, choices } = parsed.data
  const { message, finish_reason: finishReason } = choices[0]
  const structured = message.tool_calls ?? []
  const { text: content } = readContent(message.content)
  const mayHoldCalls = structured.length === 0 && request.tools.length > 0 && request.toolChoice !== 'none'
  const written = mayHoldCalls ? writtenIn(content ?? '', request, finishReason === 'length') : noCalls
  const count = structured.length + written.calls.length
  if (count > maxCalls) throw brokenReply(`more than ${maxCalls} tool calls`)
  const newId = openCallIds(request.messages)
  const { usage, isEstimated } = readUsage(parsed.data.usage, request, message)
  return {
    model: cut(model ?? request.model),
    content: written.calls.length === 0 ? content : written.rest,
    toolCalls: [
      ...structured.map((call) => toRequestedCall(call, newId)),
      ...written.calls.map(({ name, arguments: args }) => ({
        id: newId(undefined),
        name: cut(name),
        arguments: asJson(args),
        parsedFromContent: true,
      })),
    ],
    ...(written.fault === undefined ? {} : { callFault: written.fault }),
    finishReason: cut(finishReason ?? 'unknown'),
    usage,
    workarounds: isEstimated ? ['usage estimated'] : [],
    raw,
  }
}

function notACompletion(error: z.ZodError): Error {
  const issue = error.issues[0]
  const where = issue === undefined ? '' : `: ${issue.path.join('.')}: ${issue.message}`
  return brokenReply(`the reply is not a chat completion${where}`, error)
}

export function readContent(content: Content | null | undefined): { text: string | null; thought: string } {
  if (content === null || content === undefined) return { text: null, thought: '' }
  if (typeof content === 'string') return { text: content, thought: '' }
  const texts = content.flatMap(({ type, text }) => (type === 'text' && text ? [text] : []))
  const thoughts = content.flatMap(({ type, thinking }) => (type === 'thinking' ? [thoughtText(thinking)] : []))
  return { text: texts.length === 0 ? null : texts.join(''), thought: thoughts.join('') }
}

function thoughtText(thinking: z.infer<typeof Thinking> | null | undefined): string {
  if (typeof thinking === 'string') return thinking
  return (thinking ?? []).map(({ text }) => text ?? '').join('')
}

const noCalls: ParsedContent = { calls: [], rest: null }

type WrittenRequest = Pick<ModelRequest, 'tools' | 'argumentsOf'>

/** The text is an object with arguments of the tool, and not the call that other servers are asked for. */
function isArgumentsOf({ parameters }: ToolDefinition, given: unknown): boolean {
  const { properties } = parameters
  if (!isRecord(given) || !isRecord(properties)) return false
  const keys = Object.keys(given)
  return keys.length > 0 && keys.every((key) => Object.hasOwn(properties, key))
}

/** A call at the end of a reply that was cut may only be mentioned, or be the first of several. */
function writtenIn(content: string, request: WrittenRequest, isCut: boolean): ParsedContent {
  const { tools, argumentsOf } = request
  const whole = argumentsOf && readWrittenJson(content)
  if (argumentsOf !== undefined && whole !== undefined && 'value' in whole && isArgumentsOf(argumentsOf, whole.value))
    return { calls: [{ name: argumentsOf.name, arguments: content }], rest: null }
  const parsed = parseContent(content, tools)
  if (!isCut || parsed.calls.length === 0) return parsed
  return { calls: [], rest: content, fault: 'the answer was cut behind a call' }
}

function toRequestedCall(call: Call, newId: ReturnType<typeof openCallIds>): RequestedCall {
  const { name, arguments: given } = call.function
  const id = call.id !== null && call.id !== undefined && call.id.length <= maxNameLength ? call.id : undefined
  return { id: newId(id), name: cut(name), arguments: asJson(argumentsText(given ?? {}) ?? '') }
}

/** Every reader of the conversation takes JSON, servers too. The tool refuses what is none. */
function asJson(args: string): string {
  const read = readWrittenJson(args)
  return 'fault' in read || parseJson(args) !== undefined ? args : JSON.stringify(read.value)
}

function cut(name: string): string {
  return name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength).toWellFormed()}…`
}

/** Keeps a call's own id if it is new in the conversation: Mistral's servers take only nine letters and digits. */
export function openCallIds(messages: readonly Message[]): (given: string | null | undefined) => string {
  const used = new Set<string>()
  for (const message of messages) {
    if (message.role === 'assistant') for (const call of message.toolCalls) used.add(call.id)
  }
  let count: number | undefined
  const next = () => {
    count = 1 + (count ?? lastNumber(used))
    return `call${String(count).padStart(5, '0')}`
  }
  return (given) => {
    let id = given === undefined || given === null || given === '' ? next() : given
    while (used.has(id)) id = next()
    used.add(id)
    return id
  }
}

function lastNumber(ids: ReadonlySet<string>): number {
  const numbers = [...ids].map((id) => Number(/^call(\d{5,9})$/.exec(id)?.[1] ?? 0))
  return numbers.reduce((left, right) => Math.max(left, right), 0)
}

/** Estimates a count that is missing, 0 or beyond all reason: a total that leaves requests out would be wrong by more. */
function readUsage(given: Usage | null | undefined, request: Pick<ModelRequest, 'messages' | 'tools'>, reply: object) {
  const promptTokens = counted(given?.prompt_tokens)
  const completionTokens = counted(given?.completion_tokens)
  const usage = {
    promptTokens: promptTokens ?? estimated(request.messages) + estimated(request.tools),
    completionTokens: completionTokens ?? estimated(reply),
  }
  return { usage, isEstimated: promptTokens === undefined || completionTokens === undefined }
}

function counted(count: number | null | undefined): number | undefined {
  return typeof count === 'number' && count >= 1 && count <= maxTokens ? Math.round(count) : undefined
}

function estimated(value: object): number {
  return Math.ceil(JSON.stringify(value).length / charactersPerToken)
}
