import { AppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import type { Clock } from '#platform/clock.ts'
import { allCapabilities } from '../wire/capabilities.ts'
import { toTryFailure, type TryFailure } from '../wire/try-failure.ts'
import type { PooledServer } from './servers/pooled-server.ts'

/** A probe asks for one token. A server that needs longer for it while no other request comes does not work. */
const probeLimitMs = 10_000

type ProbeDeps = { clock: Clock; closing: AbortSignal }

/** Asks for one token. Undefined when the server answers, be it that it dislikes the form of the request. */
export async function probeModel(
  server: PooledServer,
  name: string | undefined,
  { clock, closing }: ProbeDeps,
): Promise<TryFailure | undefined> {
  const late = new AbortController()
  const stopTimer = clock.after(probeLimitMs, () =>
    late.abort(new AppError('AGENT_002', 'no answer', { phase: 'model' })),
  )
  try {
    const signal = AbortSignal.any([late.signal, closing])
    await server.endpoint.ask(probeRequest(await modelAt(server, name, signal)), allCapabilities, signal)
    if (name !== undefined) server.offered.has(name)
    return undefined
  } catch (error) {
    const failure = toTryFailure(late.signal.aborted ? late.signal.reason : error)
    return failure.kind === 'request' && failure.status !== undefined ? undefined : failure
  } finally {
    stopTimer()
  }
}

/** The model to ask this server for: what a bundle or the settings name, or the first that the server offers. */
async function modelAt(server: PooledServer, name: string | undefined, signal: AbortSignal): Promise<string> {
  const { endpoint, offered } = server
  if (name !== undefined && (offered.mayOffer(name) || offered.isLacking(name))) return name
  const models = await endpoint.models({ timeoutMs: probeLimitMs, signal })
  offered.learn(models)
  const found = name === undefined ? models[0] : name
  if (found !== undefined && (name === undefined || offered.mayOffer(name))) return found
  throw new AppError('AGENT_002', name === undefined ? 'offers no model' : `does not offer "${name}"`, {
    phase: 'model',
  })
}

function probeRequest(model: string): ModelRequest {
  const messages = [{ role: 'user', content: 'Say ok.' }] as const
  return { model, messages, tools: [], toolChoice: 'none', temperature: 0, maxTokens: 1 }
}
