import { AppError } from '#domain/error.ts'
import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import { systemClock, type Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { HttpProxy } from '#platform/proxy-env.ts'
import { openTurnstile } from '#platform/turnstile.ts'
import { withinLimit } from '#platform/within-limit.ts'
import { openUndiciFetch, type UndiciFetch } from './http/undici-fetch.ts'
import { openEndpoint, type Endpoint } from './pool/replicas/endpoint.ts'
import { openOfferedList } from './pool/replicas/offered-list.ts'
import { askForModels, openFirstModel } from './pool/replicas/offered-models.ts'
import { openLocalPlaces, type PlaceKeeper } from './pool/places/places.ts'
import { endpointStatus, type PoolStatus } from './pool/pool-status.ts'
import { openReplica, type Replica } from './pool/replicas/replica.ts'
import { openRouter } from './pool/router.ts'
import { openServerWatch } from './pool/watch/server-watch.ts'
import type { WatchedServer } from './pool/watch/watched-server.ts'
import { openLocalFindings, type FindingsKeeper } from './servers/findings-keeper.ts'

export type ModelPool = {
  /**
   * One reply to one request, tried again while that may help and the retry budget lasts, elsewhere where there is an
   * elsewhere. Rejects with AGENT_002 (no endpoint answered, or none offers the model), AGENT_007 (the request or the reply
   * is too long), AGENT_008 (replies were cut short or are no completions), or at once with the signal's reason, closing
   * the socket. Safe to repeat: nothing is kept between calls.
   */
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>
  /** The models of the endpoints that answer within a second; CONFIG_005 when none offers any. */
  describe(): Promise<{ models: string[] }>
  /**
   * The first model the endpoints offer: asked for at the first call and, while no endpoint answers, for the retry budget
   * of every call; AGENT_002 then. Costs nothing once it is known, until no endpoint has it any more.
   */
  firstModel(signal: AbortSignal): Promise<string>
  /**
   * How many tokens a request for this model and its reply may have together: the least that an endpoint says which
   * offers it and works; undefined where none does, or none soon enough. Answers within about a second.
   */
  contextTokens(model: string, signal: AbortSignal): Promise<number | undefined>
  /**
   * Asks every endpoint what it takes of requests for this model, which is otherwise asked at the first of them; waits for
   * the answers no longer than that would.
   */
  probe(model: string, signal: AbortSignal): Promise<void>
  /** How every endpoint is now, as this process sees it. */
  status(): PoolStatus
  /** Closes every socket at once. Requests in flight and later ones fail with AGENT_002. */
  close(): Promise<void>
}

export type EndpointChoice = {
  /** Base URL with its `/v1`, without login and query; CONFIG_003 otherwise. */
  url: string
  apiKey?: string | undefined
  /** Models and adapters it is asked for; without any, those it offers itself. */
  models?: readonly string[] | undefined
  /** Requests at once, of all that share its places. */
  maxInFlight?: number | undefined
}

export type ModelPoolOptions = {
  endpoints: readonly EndpointChoice[]
  /** Limit of one try. */
  requestTimeoutMs: number
  /** How long after a request's first failure another try may still start; each keeps its own limit. */
  retryBudgetMs: number
  /** Per endpoint, this process's requests at once; further ones wait in line. */
  maxInFlight: number
  /** Whether answers are asked for piece by piece, which tells the time to the first token; false when absent. */
  stream?: boolean | undefined
  /** Shares the endpoints' own limits with other processes; without it this one has them to itself. Closed with the pool. */
  places?: PlaceKeeper
  /** Shares with other processes what endpoints take of requests; without it this one asks for itself. */
  findings?: FindingsKeeper
  /** How long a request may be without an answer before it is sent to a second endpoint too; never without it. */
  hedgeAfterMs?: number | undefined
  /** That all requests go through; none without it. */
  proxy?: HttpProxy | undefined
  log?: Pick<Log, 'warn' | 'debug'>
}

const maxReplyBytes = 8 * 1024 * 1024
const describeLimitMs = 1000
/** An operation is not kept from its start by a server that hangs. */
const contextLimitMs = 1000
/** Reading an answer, and what follows until the next request or a tool's start, takes about 0.2 ms. */
const answersPerTurn = 4
/** Models are looked up again every so many rounds of the watch: about once a minute. */
const roundsPerLookUp = 12

export function openModelPool(options: ModelPoolOptions): ModelPool {
  if (options.endpoints.length === 0) throw new AppError('CONFIG_003', 'the model pool has no endpoint')
  const { log, proxy, places = openLocalPlaces(), findings = openLocalFindings() } = options
  const closing = new AbortController()
  const clock = systemClock
  const random = Math.random
  const transport = openUndiciFetch({ maxBytes: maxReplyBytes, proxy })
  const servers = options.endpoints.map((choice) =>
    openServer(choice, { ...options, transport, places, findings, clock, random, closing: closing.signal }),
  )
  const replicas = servers.map(({ replica }) => replica)
  const endpoints = replicas.map(({ endpoint }) => endpoint)
  const first = openFirstModel(endpoints, { ...options, closing: closing.signal })
  const { missing } = first
  const router = openRouter({ ...options, missing, replicas, answers: openTurnstile(answersPerTurn), clock, random })
  const watch = openServerWatch({
    servers,
    clock,
    proxy,
    log,
    isInUse: () => router.line.waiting() > 0 || replicas.some((replica) => replica.inFlight() > 0),
    seen(round) {
      router.line.lookAgain()
      if (round % roundsPerLookUp === 0 && replicas.length > 1) void router.offers.refresh()
      log?.debug('model servers', status())
    },
  })
  const status = (): PoolStatus => ({
    waiting: router.line.waiting(),
    endpoints: replicas.map((replica) => endpointStatus(replica, watch.metrics(replica))),
  })
  places.listen(router.line.lookAgain)
  return {
    complete(request, signal) {
      watch.touch()
      return router.complete(request, signal)
    },
    describe: () => describeEndpoints(endpoints),
    firstModel: first.name,
    contextTokens: (model, signal) => leastContext(replicas, model, signal),
    probe: (model, signal) => probeOffering(replicas, model, signal),
    status,
    async close() {
      router.close()
      closing.abort(new AppError('AGENT_002', 'the model pool is closed', { phase: 'model' }))
      await Promise.all([watch.close(), transport.close()])
      await places.close()
    },
  }
}

type ServerDeps = Pick<ModelPoolOptions, 'requestTimeoutMs' | 'maxInFlight' | 'stream' | 'log'> & {
  transport: UndiciFetch
  places: PlaceKeeper
  findings: FindingsKeeper
  clock: Clock
  random(): number
  closing: AbortSignal
}

function openServer({ url, apiKey, models, maxInFlight: shared }: EndpointChoice, deps: ServerDeps): WatchedServer {
  const { transport, maxInFlight: own } = deps
  const endpoint = openEndpoint({ ...deps, url, apiKey, fetch: transport.fetch })
  const places = deps.places.at(endpoint.name, shared ?? own)
  const maxInFlight = Math.min(own, shared ?? own)
  return {
    url,
    apiKey,
    replica: openReplica({ ...deps, endpoint, offered: openOfferedList(models), places, maxInFlight }),
  }
}

async function probeOffering(replicas: readonly Replica[], model: string, signal: AbortSignal): Promise<void> {
  const offering = replicas.filter(({ offered }) => offered.mayOffer(model))
  await Promise.all(offering.map(({ endpoint }) => endpoint.capabilities(model, signal)))
}

async function leastContext(
  replicas: readonly Replica[],
  model: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const asked = replicas.filter(({ offered, breaker }) => offered.mayOffer(model) && breaker.state() === 'closed')
  const late = () => undefined
  const known = await Promise.all(
    asked.map(({ endpoint }) =>
      withinLimit(endpoint.contextTokens(model, signal), { limitMs: contextLimitMs, signal, late }),
    ),
  )
  const said = known.filter((tokens) => tokens !== undefined)
  return said.length === 0 ? undefined : Math.min(...said)
}

async function describeEndpoints(endpoints: readonly Endpoint[]): Promise<{ models: string[] }> {
  const { models, faults } = await askForModels(endpoints, { timeoutMs: describeLimitMs })
  if (models.length > 0) return { models }
  throw new AppError('CONFIG_005', `no model server offers a model: ${faults.join('; ')}`, { phase: 'model' })
}
