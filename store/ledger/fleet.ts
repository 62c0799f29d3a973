import { judgeModels, type UnreachableModel } from '#domain/model-health.ts'
import { joinedPrograms, type ProgramReport } from '#domain/program-report.ts'
import type { PartState } from '#platform/readiness.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { type PoolReport, readWorkers, wantModels, type WorkerReport } from './live-workers.ts'
import { orStoreError } from './store.ts'

/** A model was busy 0.78 of the time with one operation a slot, 0.96 with three (bench/utilisation-bench.ts). */
export const operationsPerSlot = 3
/** A worker opens so many more operations for runs that begin, which need not wait until one of another run ends. */
export const roomForNewRuns = (slots: number) => Math.max(slots, 8)
/** The dispatcher fills this share of all that the workers open, where that room is one more operation for each slot. */
export const filledShare = operationsPerSlot / (operationsPerSlot + 1)
/** The dispatcher enqueues so many before any worker has announced itself, and while no model works: some operations need none. */
export const leastWindow = 8

export type Fleet = {
  /** Counts the operations that they can run at once. */
  operations: number
  workers: number
  /** Requests to model servers at once, by their limits for now; undefined while a worker lives that does not report it. */
  capacity: number | undefined
  /** Operations that wait at workers none of whose servers takes a request: they go on elsewhere, or when one does again. */
  stuck: number
  /** Models that none of them can use. */
  away: readonly UnreachableModel[]
  /** Models that at least one of them can use. */
  working: ReadonlySet<string>
  /** Names those of them that work at a worker that takes operations. */
  served: ReadonlySet<string>
  /** Says what the first of those that cannot use their object store reports of it. */
  store?: WorkerReport['store']
  /** Names the programs that at least one of them has; undefined while one does not say it. */
  programs?: ProgramReport | undefined
}

export async function readFleet(
  redis: RedisClient,
  { without, namespace }: { without?: string; namespace?: string } = {},
): Promise<Fleet> {
  const reports = await readWorkers(redis, namespace)
  const known = [...reports].flatMap(([id, report]) => (id === without ? [] : report))
  const taking = known.filter(({ operations }) => operations > 0)
  const operations = known.reduce((sum, report) => sum + report.operations, 0)
  const seen = taking.flatMap(({ models }) => models)
  const served = new Set(seen.flatMap(({ model, isWorking }) => (isWorking === true ? model : [])))
  const away = judgeModels(known.map(({ models }) => models))
  const store = known.find((report) => report.store !== undefined)?.store
  const programs = joinedPrograms(known.map((report) => report.programs))
  const capacity = capacityOf(known)
  return { operations, workers: known.length, served, store, programs, ...capacity, ...away }
}

/** Workers share a server up to its most; together they use no more of it than their own limits allow. */
function capacityOf(reports: readonly WorkerReport[]) {
  const pools = reports.flatMap(({ pool }) => pool ?? [])
  const stuck = pools.filter(takesNone).reduce((sum, { waiting }) => sum + waiting, 0)
  if (pools.length < reports.length || pools.length === 0) return { capacity: undefined, stuck }
  const byUrl = Map.groupBy(
    pools.flatMap(({ servers }) => servers),
    ({ url }) => url,
  )
  let capacity = 0
  for (const same of byUrl.values()) {
    const limits = same.reduce((sum, { limit }) => sum + limit, 0)
    capacity += Math.min(limits, Math.max(...same.map(({ most }) => most)))
  }
  return { capacity, stuck }
}

function takesNone({ servers }: PoolReport): boolean {
  return servers.every(({ limit }) => limit === 0)
}

const freshMs = 250

/** Suits a reader that asks more often than workers come and go. Throws STORE_001 when Redis is out of reach. */
export function openFleet(redis: RedisClient, namespace = 'remora') {
  let [reading, readAt]: [Promise<Fleet> | undefined, number] = [undefined, 0]
  return {
    /** Returns the fleet as it was at most 250 ms ago. */
    read(): Promise<Fleet> {
      if (reading !== undefined && performance.now() - readAt < freshMs) return reading
      readAt = performance.now()
      const now = orStoreError(readFleet(redis, { namespace }))
      now.catch(() => (reading = undefined))
      return (reading = now)
    },
    want: (models: readonly string[]) => orStoreError(wantModels(redis, models, namespace)),
  }
}

/** The object store as `check` finds it, and where that finds nothing wrong, as the workers do: only who writes knows that it is full. */
export async function storeOfFleet(
  check: () => Promise<PartState>,
  fleet: Pick<ReturnType<typeof openFleet>, 'read'>,
): Promise<PartState> {
  const [own, { store }] = await Promise.all([check(), fleet.read()])
  return own.state === 'ok' ? (store ?? own) : own
}
