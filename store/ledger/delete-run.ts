import { z } from 'zod'
import { AppError, hasCode } from '#domain/error.ts'
import { newToken, type ProjectId, type RunId } from '#domain/ids.ts'
import { indexKeys, resultKeys, runKeys, runOfMember } from './keys.ts'
import { newerRun, pairsOf, runScript } from './script.ts'
import { type LedgerStore, redisNowMs } from './store.ts'

type DeleteStore = Pick<LedgerStore, 'redis' | 'namespace'>
export type DeletedRun = { projectId: ProjectId; runId: RunId }

const memberOf = ({ projectId, runId }: DeletedRun) => `${projectId}/${runId}`

/** Makes an ended run unknown; asking again is harmless. RUN_006 while it goes on, RUN_005 for a newer version's. */
export async function requestDeletion(store: DeleteStore, run: DeletedRun): Promise<void> {
  const { deleted } = indexKeys(store.namespace)
  await store.redis.zadd(deleted, 'NX', await redisNowMs(store.redis), memberOf(run))
  try {
    const answer = await makeUnknown(store, run.runId)
    if (answer === 'open') {
      throw new AppError('RUN_006', `Run "${run.runId}" has not ended: cancel it first.`)
    }
  } catch (error) {
    const isRefused = hasCode(error, 'RUN_005', 'RUN_006')
    if (isRefused && (await isKnown(store, run))) await store.redis.zrem(deleted, memberOf(run))
    throw error
  }
}

const forgetScript = runScript('forget-run', 'keys')
const ForgetReply = z.enum(['forgetting', 'unknown', 'newer', 'open'])

/** Makes an ended run unknown to commands and readers. `open`: it has not ended, nothing was touched. RUN_005: of a newer version. */
export async function makeUnknown({ redis, namespace }: DeleteStore, runId: RunId) {
  const answer = ForgetReply.parse(await forgetScript(redis, runKeys(namespace, runId).scripted, []))
  if (answer === 'newer') throw newerRun(runId)
  return answer
}

export async function isBeingDeleted({ redis, namespace }: DeleteStore, run: DeletedRun): Promise<boolean> {
  return (await redis.zscore(indexKeys(namespace).deleted, memberOf(run))) !== null
}

/** The runs whose deletion is not finished, with the time since it was asked for; the first asked for first. */
export async function runsBeingDeleted({ redis, namespace }: DeleteStore): Promise<(DeletedRun & { forMs: number })[]> {
  const flat = await redis.zrange(indexKeys(namespace).deleted, '0', '-1', 'WITHSCORES')
  const now = await redisNowMs(redis)
  return pairsOf(flat).map(([member, at]) => ({ ...runOfMember(member), forMs: now - Number(at) }))
}

export async function endDeletion({ redis, namespace }: DeleteStore, run: DeletedRun): Promise<void> {
  await redis.zrem(indexKeys(namespace).deleted, memberOf(run))
}

async function isKnown({ redis, namespace }: DeleteStore, { runId }: DeletedRun): Promise<boolean> {
  return (await redis.hexists(runKeys(namespace, runId).run, 'schema')) === 1
}

const Entry = z.tuple([z.string(), z.array(z.string())])
/** Entries are named by Redis' clock, which a failover may set back. */
const clockMarginMs = 60_000
const entriesAtOnce = 1_000

/** Deletes the run's entries of the results stream. False while the run is active: more may be published. */
export async function removeResults({ redis, namespace }: DeleteStore, run: DeletedRun): Promise<boolean> {
  if ((await redis.zscore(indexKeys(namespace).active, memberOf(run))) !== null) return false
  const { results } = resultKeys(namespace)
  const accepted = Number((await redis.hget(runKeys(namespace, run.runId).run, 'accepted')) ?? 0)
  let from = `${Math.max(0, accepted - clockMarginMs)}-0`
  for (;;) {
    const entries = z.array(Entry).parse(await redis.xrange(results, from, '+', 'COUNT', entriesAtOnce))
    const own = entries.filter(([, fields]) => new Map(pairsOf(fields)).get('run_id') === run.runId)
    if (own.length > 0) await redis.xdel(results, ...own.map(([id]) => id))
    const last = entries.at(-1)
    if (last === undefined || entries.length < entriesAtOnce) return true
    from = `(${last[0]}`
  }
}

/** A worker composes a patch for at most so long. */
export const patchLimitMs = 9 * 60_000
const patchHoldsMs = patchLimitMs + 60_000

/** Until `endPatching` of the answer, or 9 minutes, nothing of the project is collected for a deletion. */
export async function beginPatching({ redis, namespace }: DeleteStore, run: DeletedRun): Promise<string> {
  const member = `${memberOf(run)}/${newToken()}`
  await redis.zadd(indexKeys(namespace).patching, (await redisNowMs(redis)) + patchHoldsMs, member)
  return member
}

export async function endPatching({ redis, namespace }: DeleteStore, member: string): Promise<void> {
  await redis.zrem(indexKeys(namespace).patching, member)
}

/** Is true while a patch of one of the project's runs is being composed. */
export async function isPatching({ redis, namespace }: DeleteStore, projectId: ProjectId): Promise<boolean> {
  const { patching } = indexKeys(namespace)
  const now = await redisNowMs(redis)
  await redis.zremrangebyscore(patching, '-inf', now)
  const members = await redis.zrange(patching, '0', '-1')
  return members.some((member) => member.startsWith(`${projectId}/`))
}
