import { AppError } from '#domain/error.ts'
import { delay, msSince } from '#platform/clock.ts'
import type { Endpoint } from './endpoint.ts'
import { toTryFailure } from '../../wire/try-failure.ts'

export type OfferedModels = {
  /** In the order of the endpoints, each once. */
  models: string[]
  /** What every endpoint without a model said, with its name. */
  faults: string[]
  /** Whether asking again may bring a model. */
  again: boolean
}

const pauseMs = 500
const nameLimitMs = 5000

export type FirstModel = {
  name(signal: AbortSignal): Promise<string>
  /** No endpoint has this one any more. */
  missing(model: string): void
}

/** Asks every endpoint once which models it has. Never rejects: aborted, the endpoints have faults. */
export async function askForModels(
  endpoints: readonly Endpoint[],
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<OfferedModels> {
  const offered: OfferedModels = { models: [], faults: [], again: false }
  const distinct = new Set<string>()
  const asked = endpoints.map((endpoint) => endpoint.models({ timeoutMs, signal }))
  for (const [at, answer] of (await Promise.allSettled(asked)).entries()) {
    const failure = answer.status === 'rejected' ? toTryFailure(answer.reason) : undefined
    const models = answer.status === 'fulfilled' ? answer.value : []
    for (const model of models) distinct.add(model)
    offered.again ||= failure?.again ?? false
    if (models.length === 0) offered.faults.push(`${endpoints[at]?.name}: ${failure?.error.message ?? 'has no models'}`)
  }
  return { ...offered, models: [...distinct] }
}

/**
 * The first model the endpoints offer, asked for when it is first needed and remembered until it is missing. A caller asks again
 * while that may help and the budget lasts; AGENT_002 then says what every endpoint answered. Once `closing` is aborted it
 * rejects with that reason.
 */
export function openFirstModel(
  endpoints: readonly Endpoint[],
  { retryBudgetMs, closing }: { retryBudgetMs: number; closing: AbortSignal },
): FirstModel {
  let known: string | undefined
  const name = async (asked: AbortSignal) => {
    if (known !== undefined) return known
    const signal = AbortSignal.any([asked, closing])
    const startedAt = performance.now()
    while (known === undefined) {
      const { models, faults, again } = await askForModels(endpoints, { timeoutMs: nameLimitMs, signal })
      signal.throwIfAborted()
      known ??= models[0]
      if (known !== undefined) break
      if (!again || msSince(startedAt) + pauseMs > retryBudgetMs) {
        throw new AppError('AGENT_002', `no model to use: ${faults.join('; ')}`, { phase: 'model' })
      }
      await delay(pauseMs, signal)
    }
    return known
  }
  return {
    name,
    missing(model) {
      if (model === known) known = undefined
    },
  }
}
