import type { ModelHealth } from '#domain/model-health.ts'
import type { Clock } from '#platform/clock.ts'
import type { ProbedModel } from './probe-model.ts'
import type { PooledServer } from './servers/pooled-server.ts'

/** A model that nobody needs is neither judged nor probed any more. */
const forgottenAfterMs = 60_000

/** `answered` has the servers that have ever answered anything. */
export type WatchFacts = {
  clock: Pick<Clock, 'now'>
  servers: readonly PooledServer[]
  answered: ReadonlySet<PooledServer>
}

type Now = Pick<WatchFacts, 'clock'>

/** `wasSilent`: it has failed without a status since it worked last. `sureUntil`: until then a probe shows nothing new. By the clock. */
export type ServerState = {
  isWorking: boolean
  lastError: string | undefined
  status: number | undefined
  wasSilent: boolean
  sureUntil: number
  nextProbeAt: number | undefined
}

export type Watched = ProbedModel & {
  states: Map<PooledServer, ServerState>
  isWorking: boolean | undefined
  awaySince: number | undefined
  judging: Promise<boolean> | undefined
  heardAt: number
  requests: number
  usedAt: number
  watchedAt: number
  /** These have a probe for as long as a request may take: a model may still be loaded there. */
  patient: Set<PooledServer>
}

export function unjudged(name: string | undefined, { clock }: Now): Watched {
  const isFirst = name === undefined
  return {
    name,
    isFirst,
    states: new Map(),
    isWorking: undefined,
    awaySince: undefined,
    judging: undefined,
    heardAt: -Infinity,
    requests: 0,
    usedAt: -Infinity,
    watchedAt: clock.now(),
    patient: new Set(),
  }
}

export function isUsed(entry: Watched | undefined, { clock }: Now): boolean {
  return entry !== undefined && (entry.requests > 0 || clock.now() - entry.usedAt <= forgottenAfterMs)
}

export function isNeeded(entry: Watched | undefined, now: Now): boolean {
  return isUsed(entry, now) || (entry !== undefined && now.clock.now() - entry.watchedAt <= forgottenAfterMs)
}

/** Returns the servers that may have the model; all of them when none may, since it may be loaded at any time. */
export function candidates({ name, isFirst }: Watched, { servers }: Pick<WatchFacts, 'servers'>) {
  if (name === undefined || isFirst) return servers
  const offering = servers.filter(({ offered }) => offered.mayOffer(name) || offered.isLacking(name))
  return offering.length === 0 ? servers : offering
}

export const working: ServerState = {
  isWorking: true,
  lastError: undefined,
  status: undefined,
  wasSilent: false,
  sureUntil: 0,
  nextProbeAt: undefined,
}

export const silent: ServerState = { ...working, isWorking: false, wasSilent: true }

export function faultsOf({ states }: Watched): string[] {
  return [...states].map(([{ name }, { lastError }]) => `${name}: ${lastError ?? 'no answer'}`)
}

export function awayText(entry: Watched): string {
  const model = entry.name === undefined ? 'any model' : `the model "${entry.name}"`
  return `no server works for ${model}: ${faultsOf(entry).join('; ')}`
}

export function reportOf(entry: Watched, facts: WatchFacts): Omit<ModelHealth, 'model'> {
  const { clock, answered } = facts
  const epochOf = (at: number | undefined) => (at === undefined ? null : Math.round(Date.now() + at - clock.now()))
  const { isWorking = null, awaySince, states } = entry
  const servers = candidates(entry, facts).map((server) => {
    const { isWorking: works = null, lastError = null, nextProbeAt } = states.get(server) ?? {}
    const hasAnswered = answered.has(server)
    const next = awaySince === undefined ? undefined : nextProbeAt
    return { url: server.name, isWorking: works, hasAnswered, lastError, nextProbeAt: epochOf(next) }
  })
  return { isWorking, awaySince: epochOf(awaySince), servers }
}
