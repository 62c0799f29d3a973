import type { Redis } from 'ioredis'
import { catalog, type QueueName } from '#store/queues/catalog.ts'
import type { Producer } from '#store/queues/producer.ts'
import type { Random } from '#platform/seeded-random.ts'

// BullMQ's keys, as its own scripts know them: `{remora}:<queue>:<list>` and a hash per job.

const prefix = '{remora}'
const queueNames = [
  'snapshots',
  'discoveries',
  'operations',
  'compositions',
  'patches',
  'publications',
  'conductor',
] as const satisfies readonly QueueName[]
const lists = ['wait', 'active', 'paused'] as const
const sortedSets = ['prioritized', 'delayed'] as const
const keysPerPage = 500

/** Adds a share of the jobs again, each under another id with the same payload. Returns how many. */
export async function duplicateJobs(
  stores: { redis: Redis; queues: Pick<Producer, 'add'> },
  pick: { share: number; random: Random },
): Promise<number> {
  let added = 0
  for (const queue of queueNames) added += await duplicateIn(queue, stores, pick)
  return added
}

async function duplicateIn(
  queue: QueueName,
  { redis, queues }: { redis: Redis; queues: Pick<Producer, 'add'> },
  { share, random }: { share: number; random: Random },
): Promise<number> {
  let added = 0
  for (const id of await jobIds(redis, queue)) {
    if (!random.chance(share)) continue
    const data = await redis.hget(jobKey(queue, id), 'data')
    if (data === null) continue
    await queues.add(queue, `${id}-again${random.int(1, 1e9)}`, catalog[queue].parse(JSON.parse(data)))
    added += 1
  }
  return added
}

/** Removes a share of the jobs from the queues, whether a worker runs them or not. Returns how many. */
export async function deleteJobs(
  redis: Redis,
  { share, random, queues = queueNames }: { share: number; random: Random; queues?: readonly QueueName[] },
): Promise<number> {
  let deleted = 0
  for (const queue of queues) {
    for (const id of await jobIds(redis, queue)) {
      if (!random.chance(share)) continue
      const step = redis.multi()
      for (const list of lists) step.lrem(`${prefix}:${queue}:${list}`, 0, id)
      for (const set of sortedSets) step.zrem(`${prefix}:${queue}:${set}`, id)
      step.del(jobKey(queue, id), `${jobKey(queue, id)}:lock`)
      await step.exec()
      deleted += 1
    }
  }
  return deleted
}

const wipe = `
local keys = redis.call('KEYS', ARGV[1])
for _, key in ipairs(keys) do redis.call('UNLINK', key) end
return #keys`

/**
 * Deletes every key of the queues, and none of the ledger. Returns how many. In one step: a list that goes without a job that
 * is added meanwhile would leave that job where no worker looks.
 */
export async function wipeQueues(redis: Redis): Promise<number> {
  return Number(await redis.eval(wipe, 0, `${prefix}:*`))
}

/** The keys of jobs that name this run, in whichever queue. */
export function jobsOfRun(redis: Redis, runId: string): Promise<string[]> {
  return keysLike(redis, `${prefix}:*:*${runId}*`)
}

async function jobIds(redis: Redis, queue: QueueName): Promise<string[]> {
  const found = await Promise.all([
    ...lists.map((list) => redis.lrange(`${prefix}:${queue}:${list}`, 0, -1)),
    ...sortedSets.map((set) => redis.zrange(`${prefix}:${queue}:${set}`, '0', '-1')),
  ])
  return found.flat().toSorted()
}

function jobKey(queue: QueueName, id: string): string {
  return `${prefix}:${queue}:${id}`
}

async function keysLike(redis: Redis, pattern: string): Promise<string[]> {
  const found = new Set<string>()
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', keysPerPage)
    for (const key of keys) found.add(key)
    cursor = next
  } while (cursor !== '0')
  return [...found]
}
