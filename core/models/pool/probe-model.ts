import { AppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import type { Clock } from '#platform/clock.ts'
import { allCapabilities } from '../wire/capabilities.ts'
import { toTryFailure, type TryFailure } from '../wire/try-failure.ts'
import type { PooledServer } from './servers/pooled-server.ts'

/** A probe asks for one token. A server that needs longer for it while no other request comes does not work. */
const probeLimitMs = 10_000

export type ProbedModel = {
  /** Undefined while no server has listed one. */
  name: string | undefined
  /** It is the first model that the servers offer, and becomes another one when none offers it any more. */
  isFirst: boolean
}

type ProbeDeps = { servers: readonly PooledServer[]; clock: Clock; closing: AbortSignal }

/**
 * Asks a server for one token of the model; names the first model. Resolves to undefined when the server answers, be it that
 * it dislikes the form of the request.
 */
export async function probeModel(
  server: PooledServer,
  model: ProbedModel,
  { servers, clock, closing }: ProbeDeps,
): Promise<TryFailure | undefined> {
  const late = new AbortController()
  const stopTimer = clock.after(probeLimitMs, () =>
    late.abort(new AppError('AGENT_002', 'no answer', { phase: 'model' })),
  )
  try {
    const signal = AbortSignal.any([late.signal, closing])
    const name = await nameAt(server, model, servers, signal)
    await server.endpoint.ask(probeRequest(name), allCapabilities, signal)
    server.offered.has(name)
    if (model.isFirst) model.name = name
    return undefined
  } catch (error) {
    const failure = toTryFailure(late.signal.aborted ? late.signal.reason : error)
    return failure.kind === 'request' && failure.status !== undefined ? undefined : failure
  } finally {
    stopTimer()
  }
}

/** What to ask this server for; throws when its list of models says that it has nothing to offer. */
async function nameAt(
  { endpoint, offered }: PooledServer,
  { name, isFirst }: ProbedModel,
  servers: readonly PooledServer[],
  signal: AbortSignal,
): Promise<string> {
  if (name !== undefined && !isFirst && (offered.mayOffer(name) || offered.isLacking(name))) return name
  const models = await endpoint.models({ timeoutMs: probeLimitMs, signal })
  offered.learn(models)
  if (name !== undefined && offered.mayOffer(name)) return name
  const isOfferedElsewhere = name !== undefined && servers.some((server) => server.offered.mayOffer(name))
  const [found] = isFirst && !isOfferedElsewhere ? models : []
  if (found !== undefined) return found
  throw new AppError('AGENT_002', name === undefined ? 'offers no model' : `does not offer "${name}"`, {
    phase: 'model',
  })
}

/** By this text counters of a test's server can leave probes out. */
export const probeText = 'Say ok.'

function probeRequest(model: string): ModelRequest {
  const messages = [{ role: 'user', content: probeText }] as const
  return { model, messages, tools: [], toolChoice: 'none', temperature: 0, maxTokens: 1 }
}
