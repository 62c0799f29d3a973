import { defaultModel, type ModelHealth } from '#domain/model-health.ts'
import { announceEveryMs, announceWorker, type Fleet, readFleet, wantedModels, withdrawWorker } from '#ledger/fleet.ts'
import type { ModelPool } from '#models/model-pool.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { PartState } from '#platform/readiness.ts'
import type { RedisClient } from '#platform/redis-client.ts'

/** While a model is away, a run that waits for it goes on within seconds after it is back. */
const announceWhileAwayMs = 1000

/** The models that this worker is asked for, as its pool sees them. */
export function openModelsInUse(pool: Pick<ModelPool, 'health'>, ownName: string | undefined) {
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
    /** For `/readyz`: whether any server works for the worker's own model. */
    async check(): Promise<PartState> {
      const { awaySince, servers } = pool.health.report(ownName)
      if (awaySince === null) return { state: 'ok', message: 'a model server works, or none was asked yet' }
      const count =
        servers.length === 1 ? 'the model server does not work' : `none of ${servers.length} model servers works`
      return { state: 'away', message: `${count} since ${new Date(awaySince).toISOString()}` }
    },
  }
}

export type ModelsInUse = ReturnType<typeof openModelsInUse>

export type Presence = {
  redis: RedisClient
  id: string
  slots: number
  models: Pick<ModelsInUse, 'listen' | 'uses' | 'reports'>
  /** Stops or goes on with taking operations. */
  takeWork(takes: boolean): void
  log: Pick<Log, 'warn'>
}

/**
 * Announces the worker and what it knows of its models, until the returned function is called. A worker
 * whose own servers do not work takes no operations while another worker's do: those would only be handed back. When no
 * worker's do it goes on: the dispatcher then hands out only what needs no model.
 */
export async function keepPresent({ redis, id, slots, models, takeWork, log }: Presence) {
  let isTaking = true
  const announce = async () => {
    for (const model of await wantedModels(redis)) models.uses(model)
    const takes = mayTake(models.reports(), await readFleet(redis, { without: id }))
    if (takes !== isTaking)
      log.warn(takes ? 'takes operations again' : 'takes no operations: no model server works here')
    if (takes !== isTaking) takeWork(takes)
    isTaking = takes
    await announceWorker(redis, { id, slots: takes ? slots : 0, models: models.reports() })
  }
  await announce()
  let announcing: Promise<void> | undefined
  const now = () =>
    void (announcing ??= announce()
      .catch(() => undefined)
      .finally(() => (announcing = undefined)))
  const stopListening = models.listen(now)
  const stop = repeatEvery(announceEveryMs, announce)
  const stopWhileAway = repeatEvery(announceWhileAwayMs, async () => {
    if (models.reports().some(({ awaySince }) => awaySince !== null)) await announce()
  })
  return async () => {
    stopListening()
    await Promise.all([stop(), stopWhileAway(), announcing])
    await withdrawWorker(redis, id)
  }
}

function mayTake(own: readonly ModelHealth[], others: Fleet): boolean {
  const isAway = own.some(({ model, awaySince }) => model === defaultModel && awaySince !== null)
  return !isAway || !others.working.has(defaultModel)
}
