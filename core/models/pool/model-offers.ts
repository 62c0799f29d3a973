import { AppError } from '#domain/error.ts'
import type { Clock } from '#platform/clock.ts'
import { withinLimit } from '#platform/within-limit.ts'
import type { Replica } from './replicas/replica.ts'
import { toldModels } from './told-models.ts'

/** Which servers may be asked for a model. */
export type ModelOffers = {
  /**
   * Resolves when a server may offer the model, after asking the servers again if none does; else rejects with AGENT_002,
   * which says what they offer. A server that has not said what it offers may offer anything.
   */
  require(model: string, signal: AbortSignal): Promise<void>
  /** The other servers than this one that are up. `isMissing`: this one said that it has no such model. */
  elsewhere(model: string, than: Replica, said: { isMissing: boolean }, signal: AbortSignal): Promise<Replica[]>
  /** Asks every server that the operator has named no models of; those that do not answer stay as they are. */
  refresh(): Promise<void>
  servers(): string[]
}

export type ModelOffersOptions = {
  replicas: readonly Replica[]
  clock: Clock
  /** Told of a model that no server has, as far as they are up. */
  missing?: ((model: string) => void) | undefined
}

/** A model that has just been looked for everywhere is not looked for again so soon. */
const restMs = 5000
/** How long a request waits for the lists; one that comes later counts from then on. */
const waitMs = 1000
const askMs = 5000

export function openModelOffers({ replicas, clock, missing }: ModelOffersOptions): ModelOffers {
  let asking: Promise<void> | undefined
  let askedAt = -Infinity
  const askAll = async () => {
    askedAt = clock.now()
    await Promise.all(
      replicas.map(async (replica) => {
        const models = await replica.endpoint.models({ timeoutMs: askMs }).catch(() => undefined)
        if (models !== undefined) replica.offered.learn(models)
      }),
    )
  }
  const refresh = () => (asking ??= askAll().finally(() => (asking = undefined)))
  const within = (signal: AbortSignal) => withinLimit(refresh(), { limitMs: waitMs, signal, late: () => undefined })
  const mayBeHad = (model: string) => replicas.some(({ offered }) => offered.mayOffer(model))
  // One server needs no list: it says itself what it does not have.
  const isUnasked = () => askedAt === -Infinity && replicas.length > 1
  return {
    refresh,
    servers: () => replicas.map(({ name }) => name),
    async require(model, signal) {
      if (isUnasked() && replicas.some(({ offered }) => offered.models() === undefined)) await within(signal)
      if (mayBeHad(model)) return
      if (asking !== undefined || clock.now() - askedAt > restMs) await within(signal)
      if (mayBeHad(model)) return
      missing?.(model)
      throw notOffered(model, replicas)
    },
    async elsewhere(model, than, { isMissing }, signal) {
      if (isMissing) await within(signal)
      if (isMissing && replicas.length > 1) than.offered.lacks(model)
      const others = replicas.filter(
        (replica) => replica !== than && replica.offered.mayOffer(model) && replica.breaker.admits('fresh'),
      )
      if (isMissing && !mayBeHad(model)) missing?.(model)
      return others
    },
  }
}

function notOffered(model: string, replicas: readonly Replica[]): AppError {
  const lists = replicas.map(({ name, offered }) => {
    const list = toldModels(offered.models() ?? []) || 'nothing known'
    return `${name}: ${offered.isLacking(model) ? 'has just answered that it does not have it' : list}`
  })
  return new AppError('AGENT_002', `no server offers the model "${model}": ${lists.join('; ')}`, { phase: 'model' })
}
