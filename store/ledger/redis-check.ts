import { Cluster } from 'ioredis'
import { z } from 'zod'
import { isReply, type RedisClient, replyKind } from '#platform/redis-client.ts'
import type { PartCheck, PartState } from '#platform/readiness.ts'
import { untilAborted } from '#platform/clock.ts'
import { AppError } from '#domain/error.ts'
import { indexKeys, storeFormat } from './keys.ts'
import { memoryOf, type RedisMemory } from './memory-gate.ts'
import { plainScript } from './script.ts'

/** Redis counts as full from here on: its own buffers, which count as well, come and go. */
const fullShare = 0.999

/** With `gateShare` (0 to 1) Redis is full for a service that takes no new run. */
export function redisCheck(redis: RedisClient, gateShare = 1): PartCheck {
  return async () => {
    try {
      if (redis instanceof Cluster && !isWhole(await redis.cluster('INFO'))) return away('part of the cluster is away')
      // A PING comes with it, which Redis refuses, too, while it cannot write to its disk.
      const { usedShare: used, evictsBy } = await memoryOf(redis).catch(unknownWhenForbidden)
      if (evictsBy !== undefined) return unsafe(evictsBy)
      if (used >= fullShare) return full('its memory is used up, and it refuses writes')
      return used > gateShare ? full('it has no room for another run') : { state: 'ok', message: 'it answers' }
    } catch (error) {
      return stateByFault(error)
    }
  }
}

/** A cluster notices after its node timeout that a master is away, and does not say so to PING. */
function isWhole(clusterInfo: string): boolean {
  return clusterInfo.includes('cluster_state:ok') && clusterInfo.includes('cluster_slots_ok:16384')
}

const startMs = 2_000

/**
 * CONFIG_006 when Redis drops keys where it should refuse writes, or has data of another format. Marks an empty one. A service
 * starts although Redis is away: `/readyz` judges it later, and runs of another format are refused one by one (RUN_005).
 */
export async function expectUsableRedis(redis: RedisClient, namespace = 'remora'): Promise<void> {
  const limit = AbortSignal.timeout(startMs)
  const checked = await untilAborted(redisCheck(redis)(limit), limit).catch(() => undefined)
  if (checked?.state === 'unsafe') throw new AppError('CONFIG_006', `Redis cannot be used: ${checked.message}`)
  const format = await untilAborted(claimFormat(redis, namespace), limit).catch(() => undefined)
  if (format === undefined || format === storeFormat) return
  throw new AppError(
    'CONFIG_006',
    `Redis has data of another version of Remora (${format === 'unmarked' ? 'without a format' : `format ${format}`}; this one has format ${storeFormat}): start with an empty Redis and bucket, or another REMORA_DATA_DIR`,
  )
}

const formatScript = plainScript('claim-format')

function claimFormat(redis: RedisClient, namespace: string): Promise<string> {
  const { format, active, ended, projects } = indexKeys(namespace)
  return formatScript(redis, [format, active, ended, projects], [storeFormat]).then((answer) =>
    z.string().parse(answer),
  )
}

const away = (message: string): PartState => ({ state: 'away', message })
const full = (message: string): PartState => ({ state: 'full', message })

const unsafe = (policy: string): PartState => ({
  state: 'unsafe',
  message: `it drops keys when its memory is used up (maxmemory-policy ${policy}): set noeviction`,
})

/** A user of Redis that may not ask for its memory learns of a full one from refused writes alone. */
function unknownWhenForbidden(error: unknown): RedisMemory {
  if (isReply(error, 'NOPERM')) return { usedBytes: 0, usedShare: 0, evictsBy: undefined }
  throw error
}

function stateByFault(error: unknown): PartState {
  const kind = replyKind(error)
  if (kind === undefined) return away('it cannot be reached')
  if (kind === 'MISCONF') return full('it cannot write to its disk, and refuses every write')
  return away(`it answers ${kind}`)
}
