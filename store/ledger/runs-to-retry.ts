import { RunId } from '#domain/ids.ts'
import { indexKeys } from './keys.ts'
import { pairsOf, plainScript } from './script.ts'
import { type LedgerStore, redisNowMs } from './store.ts'

const endScript = plainScript('end-wanted')

type IndexStore = Pick<LedgerStore, 'redis' | 'namespace'>

/** A run with decisions that may ask for a retry. `at`: when that was last noted, by Redis' clock. */
export type WantedNote = { runId: RunId; at: number }

/** Notes, before the decision is made, that it is about to ask for a retry: a crash leaves a note that means nothing, never a lost retry. */
export async function noteWanted({ redis, namespace }: IndexStore, runId: RunId): Promise<void> {
  await redis.zadd(indexKeys(namespace).retrying, await redisNowMs(redis), runId)
}

/** The runs that were noted, the longest ago first. */
export async function wantedNotes({ redis, namespace }: IndexStore): Promise<WantedNote[]> {
  const flat = await redis.zrange(indexKeys(namespace).retrying, '0', '-1', 'WITHSCORES')
  return pairsOf(flat).map(([runId, at]) => ({ runId: RunId.parse(runId), at: Number(at) }))
}

export async function mayWantRetry({ redis, namespace }: IndexStore, runId: RunId): Promise<boolean> {
  return (await redis.zscore(indexKeys(namespace).retrying, runId)) !== null
}

/** Removes a note, unless it was made again since. */
export async function endWanted({ redis, namespace }: IndexStore, { runId, at }: WantedNote): Promise<void> {
  await endScript(redis, [indexKeys(namespace).retrying], [runId, at])
}
