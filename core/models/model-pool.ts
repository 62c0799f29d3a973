import { AppError } from '#domain/error.ts'
import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import { delay, msSince } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { openTurnstile, type Turnstile } from '#platform/turnstile.ts'
import { chooseEndpoint } from './pool/choose-endpoint.ts'
import { openEndpoint, type Endpoint } from './pool/endpoint.ts'
import { fromOpenAi } from './wire/from-openai.ts'
import { allCapabilities, mayBeRefused } from './servers/capabilities.ts'
import { askForModels, openFirstModel } from './pool/offered-models.ts'
import type { Asked } from './wire/server-line.ts'
import { toTryFailure, type TryFailure } from './wire/try-failure.ts'
import { openUndiciFetch } from './http/undici-fetch.ts'

export type ModelPool = {
  /**
   * One reply to one request, tried again while that may help and the retry budget lasts. Rejects with AGENT_002 (no
   * endpoint answered), AGENT_007 (the request or the reply is too long), AGENT_008 (replies were cut short or are no
   * completions), or at once with the signal's reason, closing the socket. Safe to repeat: nothing is kept between calls.
   */
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>
  /** The models of the endpoints that answer within a second; CONFIG_005 when none offers any. */
  describe(): Promise<{ models: string[] }>
  /**
   * The first model the endpoints offer: asked for at the first call and, while no endpoint answers, for the retry budget
   * of every call; AGENT_002 then. Costs nothing once it is known.
   */
  firstModel(signal: AbortSignal): Promise<string>
  /**
   * How many tokens a request for this model and its reply may have together: the least that an endpoint says; undefined
   * where none does. Costs nothing once it is known.
   */
  contextTokens(model: string, signal: AbortSignal): Promise<number | undefined>
  /** Asks every endpoint what it takes of requests for this model, which is otherwise asked at the first of them. */
  probe(model: string, signal: AbortSignal): Promise<void>
  /** Closes every socket at once. Requests in flight and later ones fail with AGENT_002. */
  close(): Promise<void>
}

export type ModelPoolOptions = {
  /** Base URLs with their `/v1`. */
  endpoints: readonly { url: string; apiKey?: string | undefined }[]
  /** Limit of one try. */
  requestTimeoutMs: number
  /** How long after the first try has started another may still start; the last one keeps its own limit. */
  retryBudgetMs: number
  /** Per endpoint; further requests wait in line. */
  maxInFlight: number
  /** Whether answers are asked for piece by piece, which tells the time to the first token; false when absent. */
  stream?: boolean | undefined
  log?: Pick<Log, 'warn'>
}

const maxReplyBytes = 8 * 1024 * 1024
const maxRetryAfterMs = 30_000
const backoffMs = { first: 200, most: 5000 }
/** A model that babbles once may not the next time; one that does so three times will not stop. */
const maxBrokenReplies = 3
const describeLimitMs = 1000
/** undici uses a socket again one turn of the event loop after its answer at the earliest; the next request has another. */
const socketsPerRequest = 2

export function openModelPool(options: ModelPoolOptions): ModelPool {
  if (options.endpoints.length === 0) throw new AppError('CONFIG_003', 'the model pool has no endpoint')
  const { requestTimeoutMs, maxInFlight, stream } = options
  const transport = openUndiciFetch({ connections: socketsPerRequest * maxInFlight, maxBytes: maxReplyBytes })
  const endpoints = options.endpoints.map((endpoint) =>
    openEndpoint({ ...endpoint, requestTimeoutMs, maxInFlight, stream, fetch: transport.fetch, log: options.log }),
  )
  const answers = openTurnstile()
  let turn = 0
  let closed = false
  return {
    complete: (request, signal) => {
      const choose = (avoid?: Endpoint) => chooseEndpoint(endpoints, turn++, avoid)
      return completeWithin(request, signal, { ...options, choose, answers, isClosed: () => closed })
    },
    describe: () => describeEndpoints(endpoints),
    firstModel: openFirstModel(endpoints, options),
    async contextTokens(model, signal) {
      const known = await Promise.all(endpoints.map((endpoint) => endpoint.contextTokens(model, signal)))
      const said = known.filter((tokens) => tokens !== undefined)
      return said.length === 0 ? undefined : Math.min(...said)
    },
    async probe(model, signal) {
      await Promise.all(endpoints.map((endpoint) => endpoint.capabilities(model, signal)))
    },
    async close() {
      closed = true
      await transport.close()
    },
  }
}

type Routing = Pick<ModelPoolOptions, 'retryBudgetMs' | 'log'> & {
  choose(avoid?: Endpoint): Endpoint
  /** Answers that came together are worked on one by one: what waited for their places is sent first. */
  answers: Turnstile
  isClosed(): boolean
}

async function completeWithin(request: ModelRequest, signal: AbortSignal, routing: Routing): Promise<ModelReply> {
  let startedAt: number | undefined
  let brokenReplies = 0
  let endpoint = routing.choose()
  for (let tries = 1; ; tries++) {
    const leave = await endpoint.enter(signal)
    startedAt ??= performance.now()
    const asked = askEndpoint(endpoint, request, signal).finally(leave)
    const answer = await readReply(asked, request, routing.answers)
    if ('toolCalls' in answer) return { ...answer, endpoint: endpoint.name, tries }
    signal.throwIfAborted()
    if (answer.error.code === 'AGENT_008') brokenReplies += 1
    const next = routing.choose(endpoint)
    const waitMs = waitBefore(tries, next === endpoint ? answer.retryAfterMs : 0)
    const spent = performance.now() - startedAt + waitMs > routing.retryBudgetMs || brokenReplies === maxBrokenReplies
    if (!answer.again || spent || routing.isClosed()) throw gaveUp(answer, endpoint, tries, startedAt)
    routing.log?.warn('model request is tried again', { endpoint: endpoint.name, tries, waitMs, error: answer.error })
    await delay(waitMs, signal).catch(() => signal.throwIfAborted())
    endpoint = next
  }
}

async function askEndpoint(endpoint: Endpoint, request: ModelRequest, signal: AbortSignal): Promise<Asked> {
  const capabilities = mayBeRefused(request) ? await endpoint.capabilities(request.model, signal) : allCapabilities
  return endpoint.ask(request, capabilities, signal)
}

async function readReply(
  asked: Promise<Asked>,
  request: ModelRequest,
  answers: Turnstile,
): Promise<Omit<ModelReply, 'endpoint' | 'tries'> | TryFailure> {
  const start = performance.now()
  try {
    const { raw, ...how } = await asked
    const latencyMs = msSince(start)
    await answers.pass()
    const reply = fromOpenAi(raw, request)
    return { ...reply, ...how, latencyMs, workarounds: [...how.workarounds, ...reply.workarounds] }
  } catch (error) {
    return toTryFailure(error)
  }
}

/** Doubling, half of it by chance so that callers that failed together do not come back together. */
function waitBefore(tries: number, retryAfterMs: number): number {
  const step = Math.min(backoffMs.most, backoffMs.first * 2 ** (tries - 1))
  const jittered = Math.round(step / 2 + (Math.random() * step) / 2)
  return Math.max(jittered, Math.min(retryAfterMs, maxRetryAfterMs))
}

function gaveUp(failure: TryFailure, endpoint: Endpoint, tries: number, startedAt: number): AppError {
  const { code, message } = failure.error
  const effort = tries === 1 ? '' : ` (${tries} tries in ${msSince(startedAt)} ms)`
  return new AppError(code, `${endpoint.name}: ${message}${effort}`, { cause: failure.error, phase: 'model' })
}

async function describeEndpoints(endpoints: readonly Endpoint[]): Promise<{ models: string[] }> {
  const { models, faults } = await askForModels(endpoints, { timeoutMs: describeLimitMs })
  if (models.length > 0) return { models }
  throw new AppError('CONFIG_005', `no model server offers a model: ${faults.join('; ')}`, { phase: 'model' })
}
