import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { ModelReply, ModelRequest, RequestedCall } from '#domain/turn.ts'
import { openCallIds } from './call-ids.ts'
import { Content, readContent } from './content-parts.ts'
import { argumentsText } from './content/content-reading.ts'
import { parseContent, type ParsedContent } from './content/parse-content.ts'
import { GivenUsage, readUsage } from './read-usage.ts'

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

/** The part of a chat completion that is read; servers add keys of their own, which stay in `raw`. */
const Completion = z.object({
  model: z.string().nullish(),
  choices: z.tuple([Choice], Choice),
  usage: GivenUsage.nullish(),
})

/**
 * How many calls one reply may have. Every call is an event or two, a result in each request that follows and a place in the
 * attempt's record; models that are asked for several at once make less than ten, and one that makes more than this repeats
 * itself.
 */
export const maxCalls = 64
/** Longer than any name or id in use (tools 64, ids 46, models some 100), and short enough for every event and line. */
const maxNameLength = 256

/** What a completion says of itself; who gave it, and how fast, the pool adds. */
export type ReadReply = Omit<ModelReply, 'endpoint' | 'tries' | 'latencyMs' | 'firstTokenMs' | 'workarounds'> & {
  workarounds: readonly string[]
}

/**
 * The reply a chat completion holds, from its first choice. AGENT_008 when it is none, or has more than `maxCalls`. Names in
 * it have an end, too: a longer one is cut, which makes it no tool's, and a longer id counts as none. Every call has an id that no other
 * of the conversation has. If tools were offered and the reply calls none otherwise, calls in the content become calls and
 * are no content any more, though they stay in `raw`; one that is not whole is `callFault`. Tokens the server has not
 * counted are estimated, which is said in `workarounds`.
 */
export function fromOpenAi(raw: unknown, request: ModelRequest): ReadReply {
  const parsed = Completion.safeParse(raw)
  if (!parsed.success) throw notACompletion(parsed.error)
  const { model, choices } = parsed.data
  const { message, finish_reason: finishReason } = choices[0]
  const structured = message.tool_calls ?? []
  const { text: content } = readContent(message.content)
  const mayHoldCalls = structured.length === 0 && mayCall(request)
  const written = mayHoldCalls ? writtenIn(content ?? '', request, finishReason === 'length') : noCalls
  const count = structured.length + written.calls.length
  if (count > maxCalls) throw broken(`more than ${maxCalls} tool calls`)
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
        arguments: args,
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

const noCalls: ParsedContent = { calls: [], rest: null }

/** Calls that a cut reply ends with may be what it went on to talk about, or the first of several. */
function writtenIn(content: string, { tools }: Pick<ModelRequest, 'tools'>, isCut: boolean): ParsedContent {
  const parsed = parseContent(content, tools)
  if (!isCut || parsed.calls.length === 0) return parsed
  return { calls: [], rest: content, fault: 'the answer was cut behind a call' }
}

function toRequestedCall(call: Call, newId: ReturnType<typeof openCallIds>): RequestedCall {
  const { name, arguments: given } = call.function
  const id = call.id !== null && call.id !== undefined && call.id.length <= maxNameLength ? call.id : undefined
  return { id: newId(id), name: cut(name), arguments: argumentsText(given ?? {}) ?? '' }
}

function cut(name: string): string {
  return name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength).toWellFormed()}…`
}

function mayCall(request: Pick<ModelRequest, 'tools' | 'toolChoice'>): boolean {
  return request.tools.length > 0 && request.toolChoice !== 'none'
}

function notACompletion(error: z.ZodError): AppError {
  const issue = error.issues[0]
  const where = issue === undefined ? '' : `: ${issue.path.join('.')}: ${issue.message}`
  return broken(`the reply is not a chat completion${where}`, error)
}

function broken(message: string, cause?: unknown): AppError {
  return new AppError('AGENT_008', message, { cause, phase: 'model' })
}
