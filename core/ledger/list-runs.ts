import { AppError } from '#domain/error.ts'
import { ProjectId, RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { indexKeys } from './keys.ts'
import { getRun } from './read-run.ts'
import type { LedgerStore } from './store.ts'

/**
 * The project's runs, newest first, from the one accepted before `before` on. A run this version does not know is left
 * out, and so is one whose acceptance was cut off half-way.
 */
export async function listRuns(
  store: LedgerStore,
  projectId: ProjectId,
  page: { before?: RunId; limit: number },
): Promise<Run[]> {
  const key = indexKeys(store.namespace).runsOf(projectId)
  const rank = page.before === undefined ? null : await store.redis.zrevrank(key, page.before)
  if (page.before !== undefined && rank === null) return []
  const first = rank === null ? 0 : rank + 1
  const ids = await store.redis.zrevrange(key, first, first + page.limit - 1)
  const runs = await Promise.all(ids.map((id) => readable(store, id)))
  return runs.filter((run) => run !== undefined)
}

async function readable(store: LedgerStore, runId: RunId): Promise<Run | undefined> {
  try {
    return await getRun(store, runId)
  } catch (error) {
    if (error instanceof AppError && (error.code === 'RUN_001' || error.code === 'RUN_005')) return undefined
    throw error
  }
}

/** An entry of the index: written before its run exists, removed after it has ended. Milliseconds since the epoch. */
export type ActiveRun = { projectId: ProjectId; runId: RunId; acceptedAt: number }

/** Every run that has not ended, of every project, oldest first: what dispatcher, relay and sweeper look after. */
export async function activeRuns(store: LedgerStore): Promise<ActiveRun[]> {
  const flat = await store.redis.zrange(indexKeys(store.namespace).active, '0', '-1', 'WITHSCORES')
  const runs: ActiveRun[] = []
  for (let at = 0; at < flat.length; at += 2) {
    const [projectId, runId] = (flat[at] ?? '').split('/')
    const acceptedAt = Number(flat[at + 1])
    runs.push({ projectId: ProjectId.parse(projectId), runId: RunId.parse(runId), acceptedAt })
  }
  return runs
}
