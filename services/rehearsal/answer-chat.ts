import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseJson } from '#domain/json.ts'
import { probeUser } from '#models/capabilities/probe-requests.ts'
import { isUnknownPolicy } from './planner-policies.ts'
import { delay } from '#platform/clock.ts'
import { type ChatMessage, ChatRequest } from './chat-request.ts'
import { toCompletion, type Completion, completionBody, completionEvents } from './chat-completion.ts'
import { orphanedToolResult, unreadableCall } from './conversation.ts'
import { type FaultName, type FaultPlan, markedFault, openFaultDraw } from './faults.ts'
import { nextMove } from './next-move.ts'
import { type Refusals, refusedIn } from './refusals.ts'
import { readPlainRequest } from './plain-request.ts'
import { answerError, readBody } from './json-http.ts'

/** Set by `POST /latency`, `POST /faults` and `POST /refusals`, and read by `/metrics`. */
export type RehearsalState = ReturnType<typeof openState>

const maxBodyBytes = 32 * 1024 * 1024
const faultLatencyMs = 500

/** Its counts are of turns: `running` in progress, `asked` all that were asked for, and `answered`. */
export function openState(latencyMs: number, plan: FaultPlan, refusals: Refusals) {
  const counts = { running: 0, asked: 0, answered: 0 }
  return { latencyMs, drawFault: openFaultDraw(plan), refusals, counts }
}

/** `POST /v1/chat/completions`. */
export async function answerChat(request: IncomingMessage, response: ServerResponse, state: RehearsalState) {
  const body = await readBody(request, maxBodyBytes)
  if (body === undefined) return answerError(response, 413, 'the request is too large')
  const parsed = ChatRequest.safeParse(parseJson(body))
  if (!parsed.success) return answerError(response, 400, describe(parsed.error.issues[0]))
  const refused = refusedIn(parsed.data, state.refusals)
  if (refused !== undefined) return answerError(response, 400, `the rehearsal model is set to refuse ${refused}`)
  if (isUnknownPolicy(parsed.data.model))
    return answerError(response, 404, `the rehearsal model has no script "${parsed.data.model}"`)
  if (parsed.data.user === probeUser) return answerProbe(parsed.data, response)
  const unreadable = unreadableCall(parsed.data.messages)
  if (unreadable !== undefined) {
    return answerError(response, 500, `Failed to parse tool call arguments as JSON: ${unreadable}`)
  }
  const { chat, form } = readPlainRequest(parsed.data)
  const orphan = orphanedToolResult(chat.messages)
  if (orphan !== undefined) return answerError(response, 400, `tool_call_id ${orphan} answers no tool call`)
  state.counts.asked += 1
  state.counts.running += 1
  response.once('close', () => (state.counts.running -= 1))
  const fault = markedIn(chat.messages) ?? state.drawFault()
  const waitMs = state.latencyMs + (fault === 'latency' ? faultLatencyMs : 0)
  if (waitMs > 0) await delay(waitMs)
  if (response.destroyed || sendFault(response, fault)) return undefined
  const callNumber = 1 + chat.messages.reduce((sum, message) => sum + (message.tool_calls?.length ?? 0), 0)
  const number = ++state.counts.answered
  const completion = toCompletion({ move: nextMove(chat), form, number, callNumber, promptChars: body.length }, fault)
  const includeUsage = chat.stream_options?.include_usage ?? false
  return sendCompletion(response, completion, { stream: chat.stream, includeUsage, fault })
}

/** A probe is no turn of an agent: it gets no fault and no delay, and is not counted. */
function answerProbe(probe: ChatRequest, response: ServerResponse): Promise<void> {
  const { chat, form } = readPlainRequest(probe)
  const completion = toCompletion({ move: nextMove(chat), form, number: 0, callNumber: 1, promptChars: 0 }, undefined)
  const includeUsage = chat.stream_options?.include_usage ?? false
  return sendCompletion(response, completion, { stream: chat.stream, includeUsage, fault: undefined })
}

function markedIn(messages: readonly ChatMessage[]): FaultName | undefined {
  for (const role of ['user', 'system']) {
    const marked = markedFault(messages.findLast((message) => message.role === role)?.content ?? '')
    if (marked !== undefined) return marked
  }
  return undefined
}

function describe(issue: { path: PropertyKey[]; message: string } | undefined): string {
  return issue === undefined ? 'invalid request' : `${issue.path.map(String).join('.')}: ${issue.message}`
}

/** Writes the count that routing reads in Prometheus' text format, under the name that vLLM uses. Every request is answered at once, so none waits. */
export function metricsText({ running }: RehearsalState['counts']): string {
  const gauge = (name: string, value: number) =>
    `# TYPE vllm:${name} gauge\nvllm:${name}{model_name="rehearsal"} ${value}\n`
  return gauge('num_requests_running', running) + gauge('num_requests_waiting', 0)
}

type Delivery = { stream: boolean; includeUsage: boolean; fault: FaultName | undefined }

type ErrorReply = { status: number; message: string; headers?: Record<string, string> }
const errorReplies: Partial<Record<FaultName, ErrorReply>> = {
  '403': { status: 403, message: 'rehearsed filter of content' },
  '429': { status: 429, message: 'rehearsed rate limit', headers: { 'retry-after': '1' } },
  '503': { status: 503, message: 'rehearsed overload' },
  '529': { status: 529, message: 'rehearsed overload of the site' },
}

/** Resets, hangs or refuses the request if the fault says so; false when it is to be answered. */
function sendFault(response: ServerResponse, fault: FaultName | undefined): boolean {
  if (fault === undefined) return false
  if (fault === 'hang') return true
  if (fault === 'reset') {
    response.socket?.resetAndDestroy()
    return true
  }
  const refusal = errorReplies[fault]
  if (refusal === undefined) return false
  answerError(response, refusal.status, refusal.message, refusal.headers)
  return true
}

/** Sends the reply, or the part that the fault lets through. A stalled one ends when the client or the server closes it. */
async function sendCompletion(response: ServerResponse, completion: Completion, delivery: Delivery) {
  const { stream, fault } = delivery
  const text = stream ? completionEvents(completion, delivery) : completionBody(completion, fault)
  const type = stream ? 'text/event-stream; charset=utf-8' : 'application/json'
  response.writeHead(200, { 'content-type': type, ...lengthHeader(text, stream) })
  const half = text.slice(0, text.length >> 1)
  if (fault === 'truncated') response.write(half, () => response.socket?.destroy())
  else if (fault === 'stall') response.write(half)
  else if (fault === 'split_bytes') await sendInPieces(response, Buffer.from(text))
  else response.end(text)
}

/** Sends about 200 pieces at most, each in a packet of its own, split without regard to characters or events. */
async function sendInPieces(response: ServerResponse, bytes: Buffer): Promise<void> {
  const least = Math.ceil(bytes.length / 200)
  for (let at = 0, size = 0; at < bytes.length && !response.destroyed; at += size) {
    size = least + (at % 3)
    response.write(bytes.subarray(at, at + size))
    await delay(0)
  }
  response.end()
}

/** Real servers do not know the length of a stream, and send it in chunks. */
function lengthHeader(text: string, stream: boolean): Record<string, string> {
  return stream ? { 'cache-control': 'no-cache' } : { 'content-length': String(Buffer.byteLength(text)) }
}
