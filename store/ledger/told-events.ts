import { z } from 'zod'
import { ProjectId, RunId } from '#domain/ids.ts'
import { runKeys, toldChannel, toldKeys, toldNotice } from './keys.ts'
import { pairsOf, plainScript } from './script.ts'
import { isReply } from '#platform/redis-client.ts'
import { type LedgerStore, redisNowMs } from './store.ts'

/** Up to 1,000 events of a run that were told together. Ranges are in the order of their ids; those of a run follow on each other. */
export type ToldRange = { id: string; projectId: ProjectId; runId: RunId; first: number; last: number }

const tellScript = plainScript('tell-events')
const trimScript = plainScript('trim-told')
const RunRow = z.tuple([z.string().nullable(), ProjectId.nullable(), z.string().nullable()])

/**
 * Adds the run's events that were not told to the ranges of all runs, each once by any calls, and returns how many. A run that is
 * being deleted, or was, has none.
 */
export async function tellEvents({ redis, namespace }: LedgerStore, runId: RunId): Promise<number> {
  const { run } = runKeys(namespace, runId)
  const { ranges, told } = toldKeys(namespace)
  const [schema, projectId, seq] = RunRow.parse(await redis.hmget(run, 'schema', 'project', 'seq'))
  if (schema === null || projectId === null || seq === null) return 0
  const notice = [toldChannel(namespace), toldNotice(projectId)]
  const count = z.int().parse(await tellScript(redis, [ranges, told], [projectId, runId, seq, ...notice]))
  // It may have been deleted since it was read.
  if (count > 0 && (await redis.hexists(run, 'schema')) === 0) await redis.hdel(told, runId)
  return count
}

const Fields = z.object({ project: ProjectId, run: RunId, first: z.coerce.number(), last: z.coerce.number() })
const Entry = z.tuple([z.string(), z.array(z.string())]).transform(([id, fields]): ToldRange => {
  const { project, run, ...rest } = Fields.parse(Object.fromEntries(pairsOf(fields)))
  return { id, projectId: project, runId: run, ...rest }
})
const RangesAndTrimmed = z.tuple([z.tuple([z.null(), z.array(Entry)]), z.tuple([z.null(), z.string().nullable()])])

/**
 * Reads up to `limit` ranges of all projects, from the id `from` on. `trimmed` is the position, a range's id, a dot and a number, behind the
 * project's last event that is not in them any more.
 */
export async function readTold(
  { redis, namespace }: LedgerStore,
  projectId: ProjectId,
  { from, limit }: { from: string; limit: number },
) {
  const keys = toldKeys(namespace)
  const reading = redis.multi().xrange(keys.ranges, from, '+', 'COUNT', limit).hget(keys.trimmed, projectId)
  const [[, ranges], [, trimmed]] = RangesAndTrimmed.parse(await reading.exec())
  return { ranges, trimmed }
}

export async function lastTold({ redis, namespace }: LedgerStore): Promise<ToldRange | undefined> {
  const entries = await redis.xrevrange(toldKeys(namespace).ranges, '+', '-', 'COUNT', 1)
  return z.array(Entry).parse(entries)[0]
}

const Given = z.array(Entry)
const Read = z.tuple([z.tuple([z.string(), Given])]).nullable()
const Claimed = z.tuple([z.string(), Given]).rest(z.unknown())

/**
 * Reads the ranges as a group, whose processes share them. A range is given again, to whichever process, when it was not acknowledged
 * within `idleMs`. `redis` waits for ranges: nothing else can use it. A new group begins with what happens from now on.
 */
export async function openToldGroup(
  { redis, namespace = 'remora' }: Pick<LedgerStore, 'redis'> & { namespace?: string },
  { group, idleMs, waitMs }: { group: string; idleMs: number; waitMs: number },
) {
  const { ranges } = toldKeys(namespace)
  await redis.xgroup('CREATE', ranges, group, '$', 'MKSTREAM').catch((error: unknown) => {
    if (!isReply(error, 'BUSYGROUP')) throw error
  })
  // The processes need no names: what any of them leaves is taken over alike.
  const of = [ranges, group, 'one'] as const
  return {
    /** Waits up to `waitMs` for up to `count` ranges. */
    async take(count: number): Promise<ToldRange[]> {
      const [, left] = Claimed.parse(await redis.xautoclaim(...of, idleMs, '0', 'COUNT', count))
      if (left.length > 0) return left
      const read = await redis.xreadgroup(
        'GROUP',
        group,
        'one',
        'COUNT',
        count,
        'BLOCK',
        waitMs,
        'STREAMS',
        ranges,
        '>',
      )
      return Read.parse(read)?.[0][1] ?? []
    },
    acknowledge: async (ids: readonly string[]) => void (await redis.xack(ranges, group, ...ids)),
  }
}

const trimmedAtOnce = 1_000

/**
 * Trims ranges that are older than `keepMs` and that every group of readers has acknowledged; at most `most` are left, whoever has not
 * read the others.
 */
export async function trimTold({ redis, namespace }: LedgerStore, { most, keepMs }: { most: number; keepMs: number }) {
  const { ranges, trimmed } = toldKeys(namespace)
  const before = Math.max(0, (await redisNowMs(redis)) - keepMs)
  let count: number
  do {
    count = z.int().parse(await trimScript(redis, [ranges, trimmed], [most, before, trimmedAtOnce]))
  } while (count === trimmedAtOnce)
}
