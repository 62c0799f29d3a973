import { ModelUnavailable } from '#domain/error.ts'
import { type Clock, withinLimit } from '#platform/clock.ts'
import { shortModelList } from './servers/offered-models.ts'
import type { PooledServer } from './servers/pooled-server.ts'

export type ModelLookupOptions = {
  servers: readonly PooledServer[]
  clock: Clock
  onMissing?: ((model: string) => void) | undefined
}

/** A model that has just been looked for on all servers is not looked for again so soon. */
const restMs = 5000
const freshMs = 60_000
/** A request waits so long for the lists; one that arrives later is used from then on. */
const waitMs = 1000
const askMs = 5000

export type ModelLookup = ReturnType<typeof openModelLookup>

export function openModelLookup({ servers, clock, onMissing }: ModelLookupOptions) {
  let asking: Promise<void> | undefined
  let askedAt = -Infinity
  const askAll = async () => {
    askedAt = clock.now()
    await Promise.all(
      servers.map(async ({ endpoint, offered }) => {
        const models = await endpoint.models({ timeoutMs: askMs }).catch(() => undefined)
        if (models !== undefined) offered.learn(models)
      }),
    )
  }
  const refresh = () => (asking ??= askAll().finally(() => (asking = undefined)))
  const refreshed = (signal: AbortSignal) => withinLimit(refresh(), { limitMs: waitMs, signal, late: () => undefined })
  const isOffered = (model: string) => servers.some(({ offered }) => offered.mayOffer(model))
  // A single server needs no list: its answer to the request says whether it has the model.
  const isStale = () => servers.length > 1 && clock.now() - askedAt > freshMs
  return {
    servers: () => servers.map(({ name }) => name),
    /** Resolves when a server may offer the model, after asking them again if none does; else rejects with AGENT_002. */
    async require(model: string, signal: AbortSignal): Promise<void> {
      if (isStale()) {
        const isFirst = askedAt === -Infinity
        void refresh()
        if (isFirst && servers.some(({ offered }) => offered.models() === undefined)) await refreshed(signal)
      }
      if (isOffered(model)) return
      if (asking !== undefined || clock.now() - askedAt > restMs) await refreshed(signal)
      if (isOffered(model)) return
      onMissing?.(model)
      throw notOffered(model, servers)
    },
    /** Returns the other servers that are up and may offer the model. `isMissing`: this one answered that it does not have it. */
    async otherServers(model: string, than: PooledServer, { isMissing }: { isMissing: boolean }, signal: AbortSignal) {
      if (isMissing) await refreshed(signal)
      if (isMissing && servers.length > 1) than.offered.lacks(model)
      const others = servers.filter(
        (server) => server !== than && server.offered.mayOffer(model) && server.breaker.admits('fresh'),
      )
      if (isMissing && !isOffered(model)) onMissing?.(model)
      return others
    },
  }
}

function notOffered(model: string, servers: readonly PooledServer[]): ModelUnavailable {
  const lists = servers.map(({ name, offered }) => {
    const list = shortModelList(offered.models() ?? []) || 'nothing known'
    return `${name}: ${offered.isLacking(model) ? 'has just answered that it does not have it' : list}`
  })
  return new ModelUnavailable(`no server offers the model "${model}": ${lists.join('; ')}`)
}
