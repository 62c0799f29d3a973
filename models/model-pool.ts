import { AppError } from '#domain/error.ts'
import type { ModelReply, ModelRequest, RequestProgress } from '#domain/turn.ts'
import { type Clock, systemClock, withinLimit } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { HttpProxy } from '#platform/env.ts'
import { openLoopThrottle } from '#platform/limit-concurrency.ts'
import { openUndiciFetch, type UndiciFetch } from './http/undici-fetch.ts'
import type { ModelWatch } from './pool/model-watch.ts'
import { openRouter, type RouterOptions } from './pool/router.ts'
import { openEndpoint, type Endpoint } from './pool/servers/server-endpoint.ts'
import { askForModels, openFirstModel, openOfferedList } from './pool/servers/offered-models.ts'
import { openPooledServer, type PooledServer } from './pool/servers/pooled-server.ts'
import { openLocalSlots, type SlotSource } from './pool/slots/slots.ts'
import type { Capabilities } from './wire/capabilities.ts'

export type ModelPool = {
  /**
   * Returns one reply, retried while that may help and the retry budget lasts. Rejects with AGENT_002 (refused, or a
   * `ModelUnavailable`, at once while the model is away), AGENT_007 (request or reply too long), AGENT_008 (replies cut short or
   * no completions), or the signal's reason.
   */
  complete(request: ModelRequest, signal: AbortSignal, progress?: RequestProgress): Promise<ModelReply>
  /** Lists the models of the endpoints that answer within a second; CONFIG_005 when none offers any. */
  describe(): Promise<{ models: string[] }>
  /** Returns the first model that the endpoints offer, cached until none does; AGENT_002 when none answers within the retry budget. */
  firstModel(signal: AbortSignal): Promise<string>
  /** Returns the least number of tokens that a request and its reply may have together, undefined when no endpoint says so in a second. */
  contextTokens(model: string, signal: AbortSignal): Promise<number | undefined>
  /** Returns the tokens of the request's prompt, as a server counts them that offers the model; undefined where none can, or does in time. */
  countPrompt(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>
  /** Tells what each endpoint that offers the model takes of requests for it; waits for a probe no longer than the first request would. */
  probe(model: string, signal: AbortSignal): Promise<Capabilities[]>
  /** Knows which models work, as this process sees it; undefined stands for the first model offered. */
  health: Pick<ModelWatch, 'listen' | 'watch' | 'isWatched' | 'isUsed' | 'works' | 'report'>
  status(): { waiting: number; endpoints: ReturnType<typeof endpointStatus>[] }
  /** Closes every socket at once. Requests in flight and later ones fail with AGENT_002. */
  close(): Promise<void>
}

export type EndpointChoice = {
  /** Base URL with its `/v1`, without login and query; CONFIG_003 otherwise. */
  url: string
  apiKey?: string | undefined
  models?: readonly string[] | undefined
  /** Bounds the requests of all processes that share its slots; as many as this one may have there when absent. */
  maxInFlightOfAll?: number | undefined
}

export type ModelPoolOptions = {
  endpoints: readonly EndpointChoice[]
  requestTimeoutMs: number
  /** Says how long after a request's first failure it may be tried again; complete-with-retries.ts says when that begins anew. */
  retryBudgetMs: number
  /** Bounds the requests of this process alone at one endpoint at once; further ones are queued. */
  maxInFlight: number
  /** Is true when answers are requested as a stream, which gives the time to the first token. */
  stream?: boolean | undefined
  /** Shares the endpoints' limits with other processes. It is closed with the pool. */
  slots?: SlotSource
  /** A request without an answer for so long is sent to a second endpoint too; without it none is. */
  hedgeAfterMs?: number | undefined
  proxy?: HttpProxy | undefined
  onEnd?: RouterOptions['onEnd']
  log?: Pick<Log, 'warn' | 'debug'>
  clock?: Clock
}

const maxReplyBytes = 8 * 1024 * 1024
const describeLimitMs = 1000
/** A server that hangs must not delay the start of an operation. */
const contextLimitMs = 1000
/** Reading an answer, and what follows until the next request or a tool's start, takes about 0.2 ms. */
const answersPerTurn = 4

export function openModelPool(options: ModelPoolOptions): ModelPool {
  if (options.endpoints.length === 0) throw new AppError('CONFIG_003', 'the model pool has no endpoint')
  const { proxy, clock = systemClock } = options
  const { slots = openLocalSlots(clock) } = options
  const closing = new AbortController()
  const transport = openUndiciFetch({ maxBytes: maxReplyBytes, proxy })
  const deps = { ...options, transport, slots, clock, random: Math.random, closing: closing.signal }
  const opened = options.endpoints.map((choice) => openServer(choice, deps))
  const servers = opened.map(({ server }) => server)
  const endpoints = servers.map(({ endpoint }) => endpoint)
  const first = openFirstModel(endpoints, deps)
  const answers = openLoopThrottle(answersPerTurn)
  const router = openRouter({ ...deps, onMissing: first.missing, servers, answers })
  const { queue, health } = router
  slots.listen(queue.recheck)
  return {
    complete: router.complete,
    describe: () => describeEndpoints(endpoints),
    firstModel: (signal) => health.guard(undefined, () => first.name(signal)),
    contextTokens: (model, signal) => leastContext(servers, model, signal),
    countPrompt: (request, signal) => countPrompt(servers, request, signal),
    probe: (model, signal) => probeOffering(servers, model, signal),
    health,
    status: () => ({ waiting: queue.size(), endpoints: opened.map(endpointStatus) }),
    async close() {
      router.close()
      closing.abort(new AppError('AGENT_002', 'the model pool is closed', { phase: 'model' }))
      await transport.close()
      await slots.close()
    },
  }
}

type ServerDeps = Pick<ModelPoolOptions, 'requestTimeoutMs' | 'maxInFlight' | 'stream' | 'log'> & {
  transport: UndiciFetch
  slots: SlotSource
  clock: Clock
  random(): number
  closing: AbortSignal
}

type EndpointLimits = { maxInFlightOfAll: number; maxInFlight: number }
type OpenedServer = { server: PooledServer; limits: EndpointLimits }

function openServer(choice: EndpointChoice, deps: ServerDeps): OpenedServer {
  const { url, apiKey, maxInFlightOfAll = deps.maxInFlight } = choice
  const maxInFlight = Math.min(deps.maxInFlight, maxInFlightOfAll)
  const endpoint = openEndpoint({ ...deps, url, apiKey, fetch: deps.transport.fetch })
  const slots = deps.slots.at(endpoint.name, maxInFlightOfAll)
  const offered = openOfferedList(choice.models)
  const server = openPooledServer({ ...deps, endpoint, offered, slots, maxInFlight })
  return { server, limits: { maxInFlightOfAll, maxInFlight } }
}

/** `limit` is what this process may have there at once for now; `pausedMs` comes from `Retry-After`. */
function endpointStatus({ server, limits }: OpenedServer) {
  return {
    ...limits,
    name: server.name,
    breaker: server.breaker.state(),
    limit: server.limit.current(),
    pausedMs: Math.ceil(server.slots.pauseLeftMs()),
    inFlight: server.inFlight(),
    models: server.offered.models(),
  }
}

async function describeEndpoints(endpoints: readonly Endpoint[]): Promise<{ models: string[] }> {
  const { models, faults } = await askForModels(endpoints, { timeoutMs: describeLimitMs })
  if (models.length > 0) return { models }
  throw new AppError('CONFIG_005', `no model server offers a model: ${faults.join('; ')}`, { phase: 'model' })
}

async function leastContext(servers: readonly PooledServer[], model: string, signal: AbortSignal) {
  const able = ableServers(servers, model)
  const limit = { limitMs: contextLimitMs, signal, late: () => undefined }
  const answers = await Promise.all(
    able.map(({ endpoint }) => withinLimit(endpoint.contextTokens(model, signal), limit)),
  )
  const known = answers.filter((tokens) => tokens !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function ableServers(servers: readonly PooledServer[], model: string): readonly PooledServer[] {
  return servers.filter(({ offered, breaker }) => offered.mayOffer(model) && breaker.state() === 'closed')
}

async function countPrompt(servers: readonly PooledServer[], request: ModelRequest, signal: AbortSignal) {
  for (const { endpoint } of ableServers(servers, request.model)) {
    const tokens = await endpoint.countPrompt(request, signal)
    if (tokens !== undefined) return tokens
  }
  return undefined
}

function probeOffering(servers: readonly PooledServer[], model: string, signal: AbortSignal): Promise<Capabilities[]> {
  const offering = servers.filter(({ offered }) => offered.mayOffer(model))
  return Promise.all(offering.map(({ endpoint }) => endpoint.capabilities(model, signal)))
}
