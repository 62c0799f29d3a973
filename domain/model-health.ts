import { z } from 'zod'

/** One model server as a worker sees it. Times are milliseconds since the epoch. */
export const ServerHealth = z.object({
  /** Names the server without login and query. */
  url: z.string(),
  /** Is null before the first answer or failure. */
  isWorking: z.boolean().nullable(),
  /** Is true once it has answered since the worker started; a 503 is an answer. */
  hasAnswered: z.boolean(),
  lastError: z.string().nullable(),
  nextProbeAt: z.number().nullable(),
})
export type ServerHealth = z.infer<typeof ServerHealth>

export const ModelHealth = z.object({
  /** Names it as bundles do: by a model or adapter, or `default` for the workers' own. */
  model: z.string(),
  /** Is null before the servers were judged. */
  isWorking: z.boolean().nullable(),
  /** Says since when none of its servers has worked; null while one does. */
  awaySince: z.number().nullable(),
  servers: z.array(ServerHealth),
})
export type ModelHealth = z.infer<typeof ModelHealth>

/** Bundles and reports of workers call the workers' own model so. */
export const defaultModel = 'default'

export type UnreachableModel = Pick<ModelHealth, 'model' | 'servers'> & { since: number }

/** Judges by the reports of all live workers. A model that some worker has not judged is neither away nor working. */
export function judgeModels(reports: readonly (readonly ModelHealth[])[]) {
  const names = new Set(reports.flatMap((models) => models.map(({ model }) => model)))
  const away: UnreachableModel[] = []
  const working = new Set<string>()
  for (const name of names) {
    const seen = reports.map((models) => models.find(({ model }) => model === name))
    if (seen.some((server) => server?.isWorking === true)) working.add(name)
    if (seen.some((server) => server === undefined || server.awaySince === null)) continue
    const since = Math.max(...seen.map((server) => server?.awaySince ?? 0))
    away.push({ model: name, since, servers: joinServers(seen.flatMap((server) => server?.servers ?? [])) })
  }
  return { away, working }
}

/** One entry for each server: workers that share servers report the same ones. The earliest probe counts. */
function joinServers(servers: readonly ServerHealth[]): ServerHealth[] {
  const byUrl = [...Map.groupBy(servers, ({ url }) => url)].toSorted(([left], [right]) => (left < right ? -1 : 1))
  return byUrl.flatMap(([, same]) => {
    const [first] = same
    if (first === undefined) return []
    const probes = same.flatMap(({ nextProbeAt }) => nextProbeAt ?? [])
    const hasAnswered = same.some((server) => server.hasAnswered)
    const lastError = same.find((server) => server.lastError !== null)?.lastError ?? null
    return [{ ...first, hasAnswered, lastError, nextProbeAt: probes.length === 0 ? null : Math.min(...probes) }]
  })
}
