import type { ProjectId, RunId } from '#domain/ids.ts'
import { indexKeys } from './keys.ts'
import type { LedgerStore } from './store.ts'

/** Takes a run off the active ones. Nobody looks after it from then on. */
export async function deactivate(
  store: LedgerStore,
  { projectId, runId }: { projectId: ProjectId; runId: RunId },
): Promise<void> {
  await store.redis.zrem(indexKeys(store.namespace).active, `${projectId}/${runId}`)
}
