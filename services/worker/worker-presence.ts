import { defaultModel, type ModelHealth } from '#domain/model-health.ts'
import {
  announceEveryMs,
  announceWorker,
  type Fleet,
  type PoolReport,
  readFleet,
  wantedModels,
  withdrawWorker,
} from '#ledger/fleet.ts'
import type { ModelPool } from '#models/model-pool.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { PartState } from '#platform/readiness.ts'
import type { RedisClient } from '#platform/redis-client.ts'

/** While a model is away, since a run that waits for it goes on within seconds after it is back; and when limits change. */
const announceSoonMs = 1000
const notableChange = 0.2
/** Operations that need no model move in any case. */
const leastTaken = 4

/** The models that this worker is asked for, as its pool sees them. */
export function openModelsInUse(pool: Pick<ModelPool, 'health' | 'status'>, ownName: string | undefined) {
  const inUse = new Set<string>()
  const nameOf = (model: string) => (model === defaultModel ? ownName : model)
  const uses = (model: string) => {
    if (inUse.has(model)) return
    inUse.add(model)
    pool.health.watch(nameOf(model))
  }
  uses(defaultModel)
  return {
    listen: pool.health.listen,
    /** Probes the model from now on while it is away. `default` is the worker's own. */
    uses,
    reports: (): ModelHealth[] => [...inUse].map((model) => ({ model, ...pool.health.report(nameOf(model)) })),
    pool: () => poolReport(pool.status()),
    /** For `/readyz`: whether any server works for the worker's own model. */
    async check(): Promise<PartState> {
      const { awaySince, servers } = pool.health.report(ownName)
      const { waiting } = pool.status()
      const queue = waiting === 0 ? '' : `; ${waiting} ${waiting === 1 ? 'request waits' : 'requests wait'} for a slot`
      if (awaySince === null) return { state: 'ok', message: `a model server works, or none was asked yet${queue}` }
      const count =
        servers.length === 1 ? 'the model server does not work' : `none of ${servers.length} model servers works`
      return { state: 'away', message: `${count} since ${new Date(awaySince).toISOString()}${queue}` }
    },
  }
}

/** A server counts only while its circuit breaker is closed. */
function poolReport({ waiting, endpoints }: ReturnType<ModelPool['status']>): PoolReport {
  const servers = endpoints.map(({ name, shared, limit, breaker }) => {
    return { url: name, most: shared, limit: breaker === 'closed' ? limit : 0 }
  })
  const own = endpoints.reduce((sum, endpoint) => sum + endpoint.own, 0)
  return { waiting, servers, left: limitsOf(servers) / own }
}

function limitsOf(servers: PoolReport['servers']): number {
  return servers.reduce((sum, { limit }) => sum + limit, 0)
}

export type ModelsInUse = ReturnType<typeof openModelsInUse>

export type Presence = {
  redis: RedisClient
  id: string
  /** The most operations at once. */
  slots: number
  models: Pick<ModelsInUse, 'listen' | 'uses' | 'reports' | 'pool'>
  /** Takes operations while it has fewer than so many; none with 0. */
  take(most: number): void
  log: Pick<Log, 'warn'>
}

/**
 * Announces the worker and what it knows of its models, until the returned function is called. A worker
 * whose own servers do not work takes no operations while another worker's do: those would only be handed back. When no
 * worker's do it goes on: the dispatcher then hands out only what needs no model. One whose servers take less of its requests
 * than another worker's takes fewer operations in proportion: they would only wait here.
 */
export async function keepPresent({ redis, id, slots, models, take, log }: Presence) {
  let [taking, announced] = [slots, 0]
  const announce = async () => {
    for (const model of await wantedModels(redis)) models.uses(model)
    const others = await readFleet(redis, { without: id })
    const pool = models.pool()
    const most = mayTake(models.reports(), others) ? partOf(slots, pool, others) : 0
    if ((most === 0) !== (taking === 0))
      log.warn(most > 0 ? 'takes operations again' : 'takes no operations: no model server works here')
    if (most !== taking) take(most)
    taking = most
    announced = limitsOf(pool.servers)
    await announceWorker(redis, { id, slots: most, models: models.reports(), pool })
  }
  await announce()
  let announcing: Promise<void> | undefined
  const now = () =>
    void (announcing ??= announce()
      .catch(() => undefined)
      .finally(() => (announcing = undefined)))
  const stopListening = models.listen(now)
  const stop = repeatEvery(announceEveryMs, announce)
  const stopWhileAway = repeatEvery(announceSoonMs, async () => {
    const isAway = models.reports().some(({ awaySince }) => awaySince !== null)
    const change = Math.abs(limitsOf(models.pool().servers) - announced)
    if (isAway || change > notableChange * announced) await announce()
  })
  return async () => {
    stopListening()
    await Promise.all([stop(), stopWhileAway(), announcing])
    await withdrawWorker(redis, id)
  }
}

function partOf(slots: number, { left }: PoolReport, { mostLeft }: Fleet): number {
  return left >= mostLeft ? slots : Math.min(slots, Math.max(leastTaken, Math.ceil((slots * left) / mostLeft)))
}

function mayTake(own: readonly ModelHealth[], others: Fleet): boolean {
  const isAway = own.some(({ model, awaySince }) => model === defaultModel && awaySince !== null)
  return !isAway || !others.working.has(defaultModel)
}
