import { AppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import type { Clock } from '#platform/clock.ts'
import { allCapabilities } from '../wire/capabilities.ts'
import { toTryFailure, type TryFailure } from '../wire/try-failure.ts'
import type { PooledServer } from './servers/pooled-server.ts'

const listLimitMs = 10_000

export type ProbedModel = {
  name: string | undefined
  /** It is the first model that the servers offer, and becomes another one when none offers it any more. */
  isFirst: boolean
}

/** `limitMs`: Infinity for as long as any request may take. */
type ProbeDeps = { servers: readonly PooledServer[]; clock: Clock; closing: AbortSignal; limitMs: number }

/** Asks a server for one token of the model; names the first model. Undefined when it answers, be it that it dislikes the request's form. */
export async function probeModel(
  server: PooledServer,
  model: ProbedModel,
  { servers, clock, closing, limitMs }: ProbeDeps,
): Promise<TryFailure | undefined> {
  const late = new AbortController()
  const tooLate = () => late.abort(new AppError('AGENT_002', 'no answer', { phase: 'model' }))
  const stopTimer = limitMs === Infinity ? () => {} : clock.after(limitMs, tooLate)
  try {
    const signal = AbortSignal.any([late.signal, closing])
    const name = await nameAt(server, model, servers, signal)
    if (name === undefined) return notOffered(model.name)
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

/** Fails as if it had answered 404, which servers do that do not check their lists: its operator must act first. */
function notOffered(name: string | undefined): TryFailure {
  const error = new AppError('AGENT_002', `does not offer "${name}"`, { phase: 'model' })
  return { error, status: 404, again: false, retryAfterMs: 0, kind: 'server' }
}

/** Returns what to ask this server for; undefined when it lists others. Throws when it lists none, as one that is still loading. */
async function nameAt(
  { endpoint, offered }: PooledServer,
  { name, isFirst }: ProbedModel,
  servers: readonly PooledServer[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (name !== undefined && !isFirst && (offered.mayOffer(name) || offered.isLacking(name))) return name
  const models = await endpoint.models({ timeoutMs: listLimitMs, signal })
  offered.learn(models)
  if (name !== undefined && offered.mayOffer(name)) return name
  const isOfferedElsewhere = name !== undefined && servers.some((server) => server.offered.mayOffer(name))
  const [found] = isFirst && !isOfferedElsewhere ? models : []
  if (found === undefined && models.length === 0) throw new AppError('AGENT_002', 'offers no model', { phase: 'model' })
  return found
}

/** A test's server leaves probes out of its counts by this text. */
export const probeText = 'Say ok.'

function probeRequest(model: string): ModelRequest {
  const messages = [{ role: 'user', content: probeText }] as const
  return { model, messages, tools: [], toolChoice: 'none', temperature: 0, maxTokens: 1 }
}
