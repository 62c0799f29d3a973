import { defaultModel, type ModelHealth } from '#domain/model-health.ts'
import type { ProgramReport } from '#domain/program-report.ts'
import { type Fleet, leastWindow, readFleet } from '#store/ledger/fleet.ts'
import {
  announceEveryMs,
  announceWorker,
  type PoolReport,
  wantedModels,
  wantModels,
  withdrawWorker,
} from '#store/ledger/live-workers.ts'
import type { ModelPool } from '#models/model-pool.ts'
import { repeatEvery } from '#platform/clock.ts'
import { withoutLogins } from '#platform/hide-secrets.ts'
import { oneAtATime } from '#platform/limit-concurrency.ts'
import type { Log } from '#platform/log.ts'
import { packageVersion } from '#platform/package-version.ts'
import type { PartState } from '#platform/readiness.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import type { StoreGate } from './store-gate.ts'

/** While a model is away announcements are more frequent: a run that waits for it goes on within seconds after it is back. */
const soonTimes = 5

/** A model that others are in doubt about is asked for again when no server here has answered for so long. */
const wantedMs = 5000
/** Nothing may ask for its own model: a worker that is idle is ready only while its servers answer. */
const ownMs = 30_000

export function openModelsInUse(
  pool: Pick<ModelPool, 'health' | 'status'>,
  ownName: string | undefined,
  { idleMs = ownMs, freshMs = wantedMs } = {},
) {
  const inUse = new Set<string>()
  const nameOf = (model: string) => (model === defaultModel ? ownName : model)
  const uses = (model: string, limit?: { freshMs: number }) => {
    inUse.add(model)
    pool.health.watch(nameOf(model), limit)
  }
  const report = (model: string): ModelHealth => ({ model, ...pool.health.report(nameOf(model)) })
  uses(defaultModel)
  return {
    listen: pool.health.listen,
    /** Judges the model, and probes it while it is away and used. `default` is the worker's own. */
    uses: (model: string): void => uses(model),
    /** Judges its own model and the `wanted` ones, which others are in doubt about, and forgets what nobody needs. */
    attend(wanted: readonly string[]): void {
      uses(defaultModel, { freshMs: idleMs })
      for (const model of wanted) uses(model, { freshMs })
      for (const model of inUse) if (!pool.health.isWatched(nameOf(model))) inUse.delete(model)
    },
    /** Lists what requests here need and is away: only the judgement of all workers tells whether any can use it. */
    doubted: (): string[] =>
      [...inUse].filter((model) => report(model).awaySince !== null && pool.health.isUsed(nameOf(model))),
    reports: (): ModelHealth[] => [...inUse].map(report),
    pool: () => poolReport(pool.status()),
    /** Names what each server said, only for operators, by `/readyz` (REMORA_HEALTH_HOST). */
    async check(): Promise<PartState> {
      const { awaySince, servers } = pool.health.report(ownName)
      const { waiting } = pool.status()
      const queue = waiting === 0 ? '' : `; ${waiting} ${waiting === 1 ? 'request waits' : 'requests wait'} for a slot`
      if (awaySince === null) return { state: 'ok', message: `a model server works, or none was asked yet${queue}` }
      const count =
        servers.length === 1 ? 'the model server does not work' : `none of ${servers.length} model servers works`
      const since = new Date(awaySince).toISOString()
      return { state: 'away', message: `${count} since ${since}${queue}: ${serversText(servers)}` }
    },
  }
}

const mostServers = 10

function serversText(servers: ModelHealth['servers']): string {
  const texts = servers.slice(0, mostServers).map(({ url, lastError, hasAnswered }) => {
    const never = hasAnswered ? '' : ', and has never answered'
    return `${url}: ${withoutLogins(lastError ?? 'no answer')}${never}`
  })
  const rest = servers.length > mostServers ? [`and ${servers.length - mostServers} more`] : []
  return [...texts, ...rest].join('; ')
}

/** A server counts only while its circuit breaker is closed. */
function poolReport({ waiting, endpoints }: ReturnType<ModelPool['status']>): PoolReport {
  const servers = endpoints.map(({ name, maxInFlightOfAll, limit, breaker, inFlight }) => {
    return { url: name, most: maxInFlightOfAll, limit: breaker === 'closed' ? limit : 0, inFlight, breaker }
  })
  return { waiting, servers }
}

export type ModelsInUse = ReturnType<typeof openModelsInUse>

export type Presence = {
  redis: RedisClient
  id: string
  operations: number
  models: Pick<ModelsInUse, 'listen' | 'attend' | 'doubted' | 'reports' | 'pool'>
  store: Pick<StoreGate, 'look'>
  programs(): Promise<ProgramReport>
  /** Takes operations while it has fewer than so many; none with 0. */
  take(most: number): void
  /** An announcement holds for 15 s. */
  everyMs?: number
  log: Pick<Log, 'warn'>
}

/**
 * Announces the worker and what it knows of its models until the returned function is called. A worker whose own model is away
 * takes no operations while others take those of every model that works. When no worker's own model works it takes a few, for
 * what needs no model, and all when another model works here. Without an object store it takes none.
 */
export async function keepPresent({ redis, id, operations, models, store, programs, take, log, ...rest }: Presence) {
  const { everyMs = announceEveryMs } = rest
  const self = { version: packageVersion(), startedAt: Date.now() }
  let work: Work = 'all'
  let stored = await store.look()
  const announceOnce = async () => {
    models.attend(await wantedModels(redis))
    await wantModels(redis, models.doubted())
    const others = await readFleet(redis, { without: id })
    const before = work
    work = stored.state === 'ok' ? workFor(models.reports(), others) : 'unstored'
    const most = mostFor(work, operations)
    if (work !== before) {
      log.warn(changes[work])
      take(most)
    }
    const lacking = stored.state === 'ok' ? {} : { store: stored }
    // One that cannot say what it has is planned for as if it had everything.
    const known = { models: models.reports(), programs: await programs().catch(() => undefined), ...lacking }
    await announceWorker(redis, { ...self, id, operations: most, pool: models.pool(), ...known })
  }
  const announce = oneAtATime(announceOnce)
  await announce()
  let announcing = Promise.resolve()
  const stopListening = models.listen(() => void (announcing = announce().catch(() => undefined)))
  const stop = repeatEvery(everyMs, announce)
  const stopWhileAway = repeatEvery(everyMs / soonTimes, async () => {
    const before = stored
    stored = await store.look()
    if (stored.state !== before.state) return announce()
    if (models.reports().some(({ awaySince }) => awaySince !== null)) await announce()
  })
  return async () => {
    stopListening()
    await Promise.all([stop(), stopWhileAway(), announcing])
    await withdrawWorker(redis, id)
  }
}

type Work = 'all' | 'modelless' | 'none' | 'unstored'

const changes: Record<Work, string> = {
  all: 'takes operations again',
  modelless: 'takes operations that need no model: no model server works, here or at another worker',
  none: 'takes no operations: no model server works here',
  unstored: 'takes no operations: the object store cannot be used',
}

function mostFor(work: Work, operations: number): number {
  if (work === 'all') return operations
  return work === 'modelless' ? Math.min(operations, leastWindow) : 0
}

function workFor(own: readonly ModelHealth[], { served }: Fleet): Work {
  const isAway = own.some(({ model, awaySince }) => model === defaultModel && awaySince !== null)
  if (!isAway) return 'all'
  const isServed = served.has(defaultModel)
  const isOfUse = own.some(({ model, isWorking }) => isWorking === true && !(isServed && served.has(model)))
  return isOfUse ? 'all' : isServed ? 'none' : 'modelless'
}
