import { AppError } from '#domain/error.ts'
import { ProjectId, RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { indexKeys } from './keys.ts'
import { getRun } from './read-run.ts'
import type { LedgerStore } from './store.ts'

/** `next` is where the next page begins; null on the last one. */
export type RunPage = { runs: Run[]; next: RunId | null }

/**
 * The project's runs, newest first, from the one accepted before `before` on, `limit` at most. A run this version does
 * not know is left out, and so is one whose acceptance was cut off half-way: a page may be short, or empty, and not the
 * last.
 */
export async function listRuns(
  store: LedgerStore,
  projectId: ProjectId,
  page: { before?: RunId; limit: number },
): Promise<RunPage> {
  const key = indexKeys(store.namespace).runsOf(projectId)
  const rank = page.before === undefined ? null : await store.redis.zrevrank(key, page.before)
  if (page.before !== undefined && rank === null) return { runs: [], next: null }
  const first = rank === null ? 0 : rank + 1
  const ids = await store.redis.zrevrange(key, first, first + page.limit)
  const shown = ids.slice(0, page.limit)
  const runs = await Promise.all(shown.map((id) => readable(store, id)))
  return {
    runs: runs.filter((run) => run !== undefined),
    next: ids.length > page.limit ? (shown.at(-1) ?? null) : null,
  }
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
