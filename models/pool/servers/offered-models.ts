import { ModelUnavailable } from '#domain/error.ts'
import { delay, msSince, systemClock, type Clock } from '#platform/clock.ts'
import { toTryFailure } from '../../wire/try-failure.ts'
import type { Endpoint } from './server-endpoint.ts'

const lackingMs = 60_000

export type OfferedList = ReturnType<typeof openOfferedList>

/** Counts the models `named` by the operator, or those that the server lists where none are named. */
export function openOfferedList(named: readonly string[] = [], { now }: Pick<Clock, 'now'> = systemClock) {
  let known = named.length === 0 ? undefined : new Set(named)
  const lackingUntil = new Map<string, number>()
  const isLacking = (model: string) => {
    const until = lackingUntil.get(model)
    if (until !== undefined && now() >= until) lackingUntil.delete(model)
    return lackingUntil.has(model)
  }
  return {
    models: (): readonly string[] | undefined =>
      known === undefined ? undefined : [...known].filter((model) => !isLacking(model)),
    /** Tells whether a request for the model may be sent there: it is offered, or may be. Ollama lists `x` as `x:latest`. */
    mayOffer: (model: string) =>
      (known === undefined || known.has(model) || known.has(`${model}:latest`)) && !isLacking(model),
    /** Takes the answer to `GET /models`, which is ignored where the operator has named the models. */
    learn(models: readonly string[]): void {
      if (named.length > 0) return
      known = new Set(models)
      lackingUntil.clear()
    },
    /** The server answered that it does not have the model: counts for a minute, or until it lists the model. */
    lacks: (model: string) => void lackingUntil.set(model, now() + lackingMs),
    isLacking,
    has(model: string): void {
      lackingUntil.delete(model)
      if (named.length === 0) known?.add(model)
    },
  }
}

/** Asks every endpoint once. `faults` names those without a model; `again`: asking again may bring one. Never rejects. */
export async function askForModels(endpoints: readonly Endpoint[], limit: { timeoutMs: number; signal?: AbortSignal }) {
  const models = new Set<string>()
  const faults: string[] = []
  let again = false
  const lists = endpoints.map((endpoint) => endpoint.models(limit))
  for (const [at, answer] of (await Promise.allSettled(lists)).entries()) {
    const failure = answer.status === 'rejected' ? toTryFailure(answer.reason) : undefined
    const offered = answer.status === 'fulfilled' ? answer.value : []
    for (const model of offered) models.add(model)
    again ||= failure?.again ?? false
    if (offered.length === 0) faults.push(`${endpoints[at]?.name}: ${failure?.error.message ?? 'has no models'}`)
  }
  return { models: [...models], faults, again }
}

const retryPauseMs = 500
const askLimitMs = 5000

/** Caches the first model that the endpoints offer until `missing` is called with it. AGENT_002 within the budget. */
export function openFirstModel(
  endpoints: readonly Endpoint[],
  { retryBudgetMs, closing }: { retryBudgetMs: number; closing: AbortSignal },
) {
  let known: string | undefined
  return {
    async name(caller: AbortSignal): Promise<string> {
      if (known !== undefined) return known
      const signal = AbortSignal.any([caller, closing])
      const startedAt = performance.now()
      while (known === undefined) {
        const { models, faults, again } = await askForModels(endpoints, { timeoutMs: askLimitMs, signal })
        signal.throwIfAborted()
        known ??= models[0]
        if (known !== undefined) break
        if (!again || msSince(startedAt) + retryPauseMs > retryBudgetMs) {
          throw new ModelUnavailable(`no model to use: ${faults.join('; ')}`)
        }
        await delay(retryPauseMs, signal)
      }
      return known
    },
    missing(model: string): void {
      if (model === known) known = undefined
    },
  }
}

const mostListed = { models: 10, characters: 100 }

/** A server may list thousands: a message names the first ten. */
export function shortModelList(models: readonly string[]): string {
  const { models: most, characters } = mostListed
  const clipped = (name: string) => (name.length > characters ? `${name.slice(0, characters)}…` : name)
  const names = models.slice(0, most).map(clipped).join(', ')
  return models.length > most ? `${names} and ${models.length - most} more` : names
}
