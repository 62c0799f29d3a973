import { AppError } from '#domain/error.ts'
import type { ModelRequest, ToolDefinition } from '#domain/turn.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { type Clock, systemClock, untilAborted } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { faultOfServerUrl, modelServerUrl } from '#platform/server-urls.ts'
import { readContextTokens, type ContextAnswer } from '../../capabilities/context-tokens.ts'
import { openPromptCounter } from '../../capabilities/count-prompt.ts'
import { openKnownCapabilities } from '../../capabilities/known-capabilities.ts'
import { isCutInCall } from '../../capabilities/probe-answer.ts'
import { OpenAiClient } from '../../http/openai-client.ts'
import type { UndiciFetch } from '../../http/undici-fetch.ts'
import { allCapabilities, mayBeRefused, type Capabilities } from '../../wire/capabilities.ts'
import { openCompletionClient, type CompletionClient, type ServerAnswer } from '../../wire/completion-client.ts'
import { openWorkaround } from '../../wire/plan-call.ts'
import { isRefusal, toTryFailure } from '../../wire/try-failure.ts'

export type Endpoint = ReturnType<typeof openEndpoint>

export type EndpointOptions = {
  url: string
  apiKey?: string | undefined
  requestTimeoutMs: number
  stream?: boolean | undefined
  fetch: UndiciFetch['fetch']
  clock?: Clock
  random?(): number
  closing?: AbortSignal
  log?: Pick<Log, 'warn'> | undefined
}

/** A request of a probe is short; a server that needs longer for a few tokens is asked again later. */
const maxProbeMs = 20_000
const maxContextReadMs = 5000
const maxCountMs = 1000
const contextFreshMs = { sure: 10 * 60_000, unsure: 5000 }
const maxModels = 1000

export function openEndpoint(options: EndpointOptions) {
  const url = plainUrl(options.url)
  const { apiKey, requestTimeoutMs, fetch, clock = systemClock, log } = options
  const client = new OpenAiClient({ url, apiKey, requestTimeoutMs, fetch })
  const ask = withPlainRetry(withHeldCalls(openCompletionClient({ client, stream: options.stream ?? false }).ask))
  const within = (mostMs: number) => ({ client, timeoutMs: Math.min(requestTimeoutMs, mostMs) })
  const capabilities = openKnownCapabilities({
    ...within(maxProbeMs),
    endpoint: url,
    clock,
    random: options.random ?? Math.random,
    closing: options.closing ?? new AbortController().signal,
    log,
  })
  const contexts = openCachedAnswers<ContextAnswer>({
    max: maxModels,
    clock,
    freshMs: ({ isSure }) => (isSure ? contextFreshMs.sure : contextFreshMs.unsure),
  })
  const readContext = async (model: string, stale: ContextAnswer | undefined): Promise<ContextAnswer> => {
    const answer = await readContextTokens(model, within(maxContextReadMs))
    return answer.isSure ? answer : { tokens: stale?.tokens, isSure: false }
  }
  const countPrompt = openPromptCounter({ ...within(maxCountMs), clock })
  return {
    name: url,
    capabilities: capabilities.of,
    async countPrompt(request: ModelRequest, signal: AbortSignal): Promise<number | undefined> {
      const given = mayBeRefused(request) ? await capabilities.of(request.model, signal) : allCapabilities
      return untilAborted(countPrompt(request, given), signal)
    },
    async contextTokens(model: string, signal: AbortSignal): Promise<number | undefined> {
      const answer = contexts.get(model, (stale) => readContext(model, stale))
      return (await untilAborted(answer, signal)).tokens
    },
    async ask(request: ModelRequest, given: Capabilities, signal: AbortSignal): Promise<ServerAnswer> {
      try {
        return await ask(request, given, signal)
      } catch (error) {
        if (mayBeRefused(request) && isRefusal(error)) capabilities.doubt(request.model)
        throw error
      }
    },
    async models({ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<string[]> {
      const page = await client.models.list({ timeout: timeoutMs, ...(signal === undefined ? {} : { signal }) })
      return page.data.map((model) => model.id)
    },
  }
}

/** Throws CONFIG_003 for a URL that is not a server's, or has parts that would not be sent. */
function plainUrl(given: string): string {
  const fault = faultOfServerUrl(given)
  if (fault !== undefined) throw new AppError('CONFIG_003', `a model server's URL ${fault}`)
  return modelServerUrl(given)
}

/**
 * A server that takes `strict: true` and bounds may still refuse a schema, such as one with a pattern. A refused request is sent
 * once more without either; when that is taken, these tools are sent so from then on. vLLM answers 500 to some patterns: a 500
 * that comes twice counts as a refusal.
 */
function withPlainRetry(ask: CompletionClient['ask']): CompletionClient['ask'] {
  const plain = new WeakSet<readonly ToolDefinition[]>()
  return async (request, capabilities, signal) => {
    const { tools } = request
    const isPlain = !capabilities.strictArguments && capabilities.lengths === 'none'
    const asPlain: Capabilities = { ...capabilities, strictArguments: false, lengths: 'none' }
    if (tools.length === 0 || isPlain) return ask(request, capabilities, signal)
    if (plain.has(tools)) return ask(request, asPlain, signal)
    const again = async (error: unknown) => {
      if (request.argumentsOf === undefined || toTryFailure(error).status !== 500) throw error
      return ask(request, capabilities, signal)
    }
    try {
      return await ask(request, capabilities, signal).catch(again)
    } catch (error) {
      const isBroken = request.argumentsOf !== undefined && toTryFailure(error).status === 500
      if (!isRefusal(error) && !isBroken) throw error
      const answer = await ask(request, asPlain, signal)
      plain.add(tools)
      return answer
    }
  }
}

/**
 * vLLM allows white space without end in a call, and a second call behind it. When a required call was cut although all its
 * texts were bounded, that model's calls are asked for as text from then on; the loop corrects the model for the cut one.
 */
function withHeldCalls(ask: CompletionClient['ask']): CompletionClient['ask'] {
  const runningOn = new Set<string>()
  return async (request, capabilities, signal) => {
    const { model, toolChoice } = request
    const { lengths, required } = capabilities
    const isBounded = lengths !== 'none' && toolChoice !== 'auto' && toolChoice !== 'none'
    if (!isBounded || required !== 'alone') return ask(request, capabilities, signal)
    if (runningOn.has(model)) return ask(request, { ...capabilities, required: 'loose' }, signal)
    const answer = await ask(request, capabilities, signal)
    if (!answer.workarounds.includes(openWorkaround) && isCutInCall(answer.raw, request)) runningOn.add(model)
    return answer
  }
}
