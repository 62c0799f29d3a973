import type { ProjectId, RunId } from '#domain/ids.ts'
import { indexKeys } from './keys.ts'
import { redisNowMs } from './redis-time.ts'
import type { LedgerStore } from './store.ts'

/**
 * Takes a run off the active ones. Nobody looks after it from then on but retention, which counts from here. Doing it
 * again changes nothing.
 */
export async function deactivate(
  store: LedgerStore,
  { projectId, runId }: { projectId: ProjectId; runId: RunId },
): Promise<void> {
  const { active, ended, projects } = indexKeys(store.namespace)
  const member = `${projectId}/${runId}`
  const now = await redisNowMs(store.redis)
  // Not in one transaction: a client sends each of these again by itself when its answer was lost.
  await Promise.all([store.redis.zadd(ended, 'NX', now, member), store.redis.sadd(projects, projectId)])
  await store.redis.zrem(active, member)
}
