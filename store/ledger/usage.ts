import { z } from 'zod'
import type { ProjectId } from '#domain/ids.ts'
import { resultKeys } from './keys.ts'
import type { LedgerStore } from './store.ts'

/** Counts what operations used of the models, and how long they ran, waiting for people left out. */
export const Usage = z.object({
  operations: z.int(),
  turns: z.int(),
  promptTokens: z.int(),
  completionTokens: z.int(),
  durationMs: z.number(),
})
export type Usage = z.infer<typeof Usage>

export type OperationUsage = Omit<Usage, 'operations'> & { agent: string }

const figures = ['operations', 'turns', 'promptTokens', 'completionTokens', 'durationMs'] as const

export const usageKeptS = 400 * 24 * 3600

/** UTC, as in `2026-11-27`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Returns what publish-results.lua adds to a day for one operation: agent, then the figures but for the number of operations. */
export function usageArgs({ agent, turns, promptTokens, completionTokens, durationMs }: OperationUsage) {
  return [agent, turns, promptTokens, completionTokens, Math.round(durationMs)]
}

/** Sums up what a project's operations used that ended on these days (UTC), by agent, also of deleted runs. */
export async function readUsage({ redis, namespace }: LedgerStore, projectId: ProjectId, days: readonly string[]) {
  const { usageOf } = resultKeys(namespace)
  const stored = await Promise.all(days.map((day) => redis.hgetall(usageOf(projectId, day))))
  return days.flatMap((day, at) => {
    const fields = Object.entries(stored[at] ?? {})
    const byAgent = Map.groupBy(fields, ([field]) => field.slice(0, field.indexOf(' ')))
    return [...byAgent].map(([agent, own]) => ({ day, agent, usage: usageIn(own) }))
  })
}

function usageIn(fields: readonly [string, string][]): Usage {
  const named = new Map(fields.map(([field, value]) => [field.slice(field.indexOf(' ') + 1), Number(value)]))
  return Usage.parse(Object.fromEntries(figures.map((name) => [name, named.get(name) ?? 0])))
}
