import { z } from 'zod'
import type { ProjectId, RunId } from '#domain/ids.ts'
import { indexKeys, resultKeys, runKeys } from './keys.ts'
import { newerRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

type RetentionStore = Pick<LedgerStore, 'redis' | 'namespace'>

const script = runScript('forget-run')
const Answer = z.enum(['forgetting', 'unknown', 'newer', 'open'])
const sliceOperations = 500

/** `open`: the run has not ended, nothing was touched. */
export type ForgetAnswer = 'forgotten' | 'open'

/**
 * Deletes all that the ledger holds of an ended run, in slices, so that no client waits for it. From the first step on
 * the run is unknown (RUN_001); its hash goes after its operations and its index entry last, so a run whose forgetting
 * was cut off is found and finished the next time. Two at once, and an entry without a run, are harmless. What it has in
 * the object store is left to the collection. RUN_005 when a newer version made it.
 */
export async function forgetRun(
  store: RetentionStore,
  { projectId, runId }: { projectId: ProjectId; runId: RunId },
  sliceLength = sliceOperations,
): Promise<ForgetAnswer> {
  const { redis, namespace } = store
  const keys = runKeys(namespace, runId)
  const index = indexKeys(namespace)
  const answer = Answer.parse(await script(redis, keys.scripted, []))
  if (answer === 'newer') throw newerRun(runId)
  if (answer !== 'open') {
    await forgetOperations(store, runId, sliceLength)
    await redis.unlink(...keys.scripted.filter((key) => key !== keys.run))
    await redis.hdel(resultKeys(namespace).published, runId)
    await redis.zrem(index.runsOf(projectId), runId)
    await redis.unlink(keys.run)
  }
  await redis.zrem(index.ended, `${projectId}/${runId}`)
  return answer === 'open' ? 'open' : 'forgotten'
}

/** By their ids, not by their places: another process may be at the same slice. */
async function forgetOperations(
  { redis, namespace }: RetentionStore,
  runId: RunId,
  sliceLength: number,
): Promise<void> {
  const keys = runKeys(namespace, runId)
  for (;;) {
    const ids = await redis.zrange(keys.operations, '0', String(sliceLength - 1))
    if (ids.length === 0) return
    await redis.unlink(...ids.flatMap((id) => [keys.operation(id), keys.node(id), keys.after(id)]))
    await redis.zrem(keys.operations, ...ids)
  }
}
