import { z } from 'zod'
import { type ProjectId, RunId } from '#domain/ids.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { countVerdicts } from './decisions.ts'
import { indexKeys, resultKeys, runKeys } from './keys.ts'
import { pairsOf, plainScript } from './script.ts'
import type { LedgerStore } from './store.ts'

/** Counts what operations used of the models, how long they ran, waiting for people left out, and the change sets that came of it. */
export const Usage = z.object({
  operations: z.int(),
  turns: z.int(),
  promptTokens: z.int(),
  completionTokens: z.int(),
  durationMs: z.number(),
  proposed: z.int(),
  /** Counts the changes of runs that began on the day. */
  accepted: z.int(),
})
export type Usage = z.infer<typeof Usage>

const keepScript = plainScript('keep-accepted')
type RunStore = Pick<LedgerStore, 'redis' | 'namespace'>

export type OperationUsage = Omit<Usage, 'operations' | 'accepted'> & { agent: string }

const figures = [
  'operations',
  'turns',
  'promptTokens',
  'completionTokens',
  'durationMs',
  'proposed',
  'accepted',
] as const

export const usageKeptS = 400 * 24 * 3600

/** UTC, as in `2026-11-27`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Returns what publish-results.lua adds to a day for one operation: agent, then the figures but for the number of operations. */
export function usageArgs({ agent, turns, promptTokens, completionTokens, durationMs, proposed }: OperationUsage) {
  return [agent, turns, promptTokens, completionTokens, Math.round(durationMs), proposed]
}

/** Sums up what a project's operations used that ended on these days (UTC), by agent, also of deleted runs. */
export async function readUsage({ redis, namespace }: LedgerStore, projectId: ProjectId, days: readonly string[]) {
  const { usageOf } = resultKeys(namespace)
  const stored = await Promise.all(days.map((day) => redis.hgetall(usageOf(projectId, day))))
  const kept = days.flatMap((day, at) => {
    const fields = Object.entries(stored[at] ?? {})
    const byAgent = Map.groupBy(fields, ([field]) => field.slice(0, field.indexOf(' ')))
    return [...byAgent].map(([agent, own]) => ({ day, agent, usage: usageIn(own) }))
  })
  return [...kept, ...(await readAccepted({ redis, namespace }, projectId, days))]
}

const runsAtOnce = 32
const dayMs = 24 * 3600 * 1000

/** Returns what is accepted now of the runs that began on these days: it counts in the usage of a day only when its run is deleted. */
async function readAccepted(store: RunStore, projectId: ProjectId, days: readonly string[]) {
  const [first = '', last = ''] = [days[0], days.at(-1)]
  const key = indexKeys(store.namespace).runsOf(projectId)
  const flat = await store.redis.zrange(key, Date.parse(first), `(${Date.parse(last) + dayMs}`, 'BYSCORE', 'WITHSCORES')
  const runs = pairsOf(flat).map(([runId, at]) => ({ runId: RunId.parse(runId), day: dayOf(Number(at)) }))
  const counts = await mapBounded(runs, runsAtOnce, async ({ runId, day }) => {
    const isKnown = (await store.redis.hexists(runKeys(store.namespace, runId).run, 'schema')) === 1
    const verdicts = isKnown ? [...(await countVerdicts(store, runId))] : []
    return verdicts.map(([agent, { accepted }]) => ({
      day,
      agent,
      usage: usageIn([[`${agent} accepted`, `${accepted}`]]),
    }))
  })
  return counts.flat()
}

/** Adds what is accepted of a run to the day on which it began, and forgets how far its results are published: both once. */
export async function keepAccepted(store: RunStore, { projectId, runId }: { projectId: ProjectId; runId: RunId }) {
  const acceptedAt = await store.redis.zscore(indexKeys(store.namespace).runsOf(projectId), runId)
  const { published, usageOf } = resultKeys(store.namespace)
  const counts = await countVerdicts(store, runId)
  const args = [...counts].flatMap(([agent, { accepted }]) => (accepted === 0 ? [] : [agent, accepted]))
  const keys = [published, usageOf(projectId, dayOf(Number(acceptedAt ?? 0)))]
  await keepScript(store.redis, keys, [runId, usageKeptS, ...args])
}

function usageIn(fields: readonly [string, string][]): Usage {
  const named = new Map(fields.map(([field, value]) => [field.slice(field.indexOf(' ') + 1), Number(value)]))
  return Usage.parse(Object.fromEntries(figures.map((name) => [name, named.get(name) ?? 0])))
}
