import { APIConnectionError, APIError } from 'openai'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { after } from '#platform/clock.ts'
import { fromOpenAi } from '../wire/from-openai.ts'
import type { OpenAiClient } from '../http/openai-client.ts'
import { StreamedResponse } from '../http/streamed-response.ts'
import { probeTool } from './probe-requests.ts'

export type ProbeAnswer = { kind: 'taken'; text: string } | { kind: 'refused'; status: number } | { kind: 'unclear' }

/** llama.cpp answers 500 when a chat template raises (llama.cpp issue 10920). What else goes wrong does so with the plain request, too. */
const refusals = new Set([400, 404, 405, 415, 422, 500, 501])

type AskLimits = { timeoutMs: number; signal: AbortSignal }

/** Sends one request of a probe. Never rejects. A 500 counts when it comes twice. */
export async function askProbe(client: OpenAiClient, body: string, limits: AskLimits): Promise<ProbeAnswer> {
  const first = await askOnce(client, body, limits)
  return first.kind === 'refused' && first.status === 500 ? askOnce(client, body, limits) : first
}

/** The client's own limit ends when the answer begins; this one bounds all of it. */
async function askOnce(client: OpenAiClient, body: string, { timeoutMs, signal }: AskLimits): Promise<ProbeAnswer> {
  const limit = new AbortController()
  const stopTimer = after(timeoutMs, () => limit.abort(new Error('no answer in time')))
  try {
    const either = AbortSignal.any([signal, limit.signal])
    const response = await client.post('/chat/completions', { body, signal: either }).asResponse()
    if (response instanceof StreamedResponse) await response.read(() => 'enough')
    return { kind: 'taken', text: await response.text() }
  } catch (error) {
    if (error instanceof APIConnectionError || !(error instanceof APIError)) return { kind: 'unclear' }
    const { status } = error
    return status !== undefined && refusals.has(status) ? { kind: 'refused', status } : { kind: 'unclear' }
  } finally {
    stopTimer()
  }
}

const Prompt = z.object({ usage: z.object({ prompt_tokens: z.int().min(1) }) })

export function promptTokens(answer: ProbeAnswer): number | undefined {
  return answer.kind === 'taken' ? Prompt.safeParse(parseJson(answer.text)).data?.usage.prompt_tokens : undefined
}

const Cut = z.object({ choices: z.tuple([z.object({ finish_reason: z.literal('length') })], z.unknown()) })

/** Tells whether a reply that had to be a call has one, or was cut while it was empty or reasoning. */
export function holdsCall(text: string): boolean {
  const reply = readReply(text)
  if (reply?.called === true) return true
  const isCut = Cut.safeParse(parseJson(text)).success
  return isCut && /^\s*(?:$|<think>|<tool_call>|\{)/.test(reply?.content ?? '')
}

const Thoughts = z.object({
  choices: z.tuple(
    [
      z.object({
        message: z.object({ reasoning_content: z.string().min(1) }).or(z.object({ reasoning: z.string().min(1) })),
      }),
    ],
    z.unknown(),
  ),
})

/** Tells whether the reply was cut within its call, or behind it; false where the model thought first, which takes room as well. */
export function isCutInCall(raw: unknown, request: ModelRequest): boolean {
  if (!Cut.safeParse(raw).success || Thoughts.safeParse(raw).success) return false
  const { content, toolCalls } = fromOpenAi(raw, request)
  if (toolCalls.length > 0) return toolCalls.every(({ arguments: given }) => parseJson(given) === undefined)
  return /^\s*(?:<tool_call>|\{\s*"name"\s*:)/.test(content ?? '')
}

export function talksBeforeCall(text: string): boolean {
  const reply = readReply(text)
  return reply?.called === true && reply.content.replace(/^\s*<think>.*?<\/think>/s, '').trim() !== ''
}

/** Tells whether a reply that had to be the text of a call is one, or begins like one. */
export function holdsWrittenCall(text: string): boolean {
  const reply = readReply(text)
  if (reply === undefined) return false
  const begins = /^\s*(?:<tool_call>|\{\s*"name"\s*:)/.test(reply.content)
  return begins || reply.called || (reply.content === '' && holdsCall(text))
}

const probed: ModelRequest = {
  model: '',
  messages: [],
  tools: [probeTool],
  toolChoice: 'required',
  temperature: 0,
  maxTokens: 1,
}

function readReply(text: string): { called: boolean; content: string } | undefined {
  try {
    const { toolCalls, content } = fromOpenAi(parseJson(text), probed)
    return { called: toolCalls.length > 0, content: content ?? '' }
  } catch {
    return undefined
  }
}
