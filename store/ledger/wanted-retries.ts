import { z } from 'zod'
import { RunId } from '#domain/ids.ts'
import { indexKeys, runKeys } from './keys.ts'
import { expectKnownRun, pairsOf, plainScript, runScript } from './script.ts'
import { type LedgerStore, redisNowMs } from './store.ts'

const noteScript = runScript('note-retry', 'keys')
const endScript = plainScript('end-wanted')

type IndexStore = Pick<LedgerStore, 'redis' | 'namespace'>

/** A run that keeps decisions with which a retry may be wanted. `at`: when that was last noted, by Redis' clock. */
export type WantedNote = { root: RunId; at: number }

/**
 * Notes that a decision of the run `root` is about to ask for a retry. To be called before the decision is made: a crash in between
 * leaves a note that means nothing, never a wanted retry that nobody finds.
 */
export async function noteWanted({ redis, namespace }: IndexStore, root: RunId): Promise<void> {
  await redis.zadd(indexKeys(namespace).retrying, await redisNowMs(redis), root)
}

/** The runs that were noted, the longest ago first. */
export async function wantedNotes({ redis, namespace }: IndexStore): Promise<WantedNote[]> {
  const flat = await redis.zrange(indexKeys(namespace).retrying, '0', '-1', 'WITHSCORES')
  return pairsOf(flat).map(([root, at]) => ({ root: RunId.parse(root), at: Number(at) }))
}

export async function mayWantRetry({ redis, namespace }: IndexStore, root: RunId): Promise<boolean> {
  return (await redis.zscore(indexKeys(namespace).retrying, root)) !== null
}

/** Removes a note, unless it was made again since. */
export async function endWanted({ redis, namespace }: IndexStore, { root, at }: WantedNote): Promise<void> {
  await endScript(redis, [indexKeys(namespace).retrying], [root, at])
}

const ClaimAnswer = z.union([z.literal('changed'), RunId])

/**
 * Claims the retry of a run that the system starts by itself: the id under which it is to be created, which is the same for all who
 * claim it until `noteRetry` says that it is there; `changed` when the run has another retry than those the caller has `seen`.
 * So that only one is made, whoever dies in between. RUN_001 for an unknown run.
 */
export async function claimRetry(
  store: LedgerStore,
  runId: RunId,
  { retry, seen }: { retry: RunId; seen: readonly RunId[] },
): Promise<z.infer<typeof ClaimAnswer>> {
  const keys = runKeys(store.namespace, runId).scripted
  const answer = await noteScript(store.redis, keys, [retry, 'claim', seen.join(' ')])
  return ClaimAnswer.parse(expectKnownRun(runId, answer))
}

/** Notes a retry in the run that it retries: `made`, one that was claimed; `asked`, one that somebody is about to make. */
export async function noteRetry(
  store: LedgerStore,
  runId: RunId,
  { retry, how }: { retry: RunId; how: 'made' | 'asked' },
): Promise<void> {
  expectKnownRun(runId, await noteScript(store.redis, runKeys(store.namespace, runId).scripted, [retry, how]))
}
