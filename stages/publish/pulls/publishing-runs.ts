import { z } from 'zod'
import { RunId } from '#domain/ids.ts'
import { orStoreError } from '#store/ledger/store.ts'
import type { RedisClient } from '#platform/redis-client.ts'

export type PublishingRuns = ReturnType<typeof openPublishingRuns>

export type Places = ReturnType<typeof openPlaces>

type BegunLook = { runId: RunId; begunUntil: number }

type Redis = RedisClient

const lookScript = `
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at or tonumber(at) > tonumber(ARGV[2]) then redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) end
return 1`

/** Whatever was asked for since the run was begun stays as it was asked for. ARGV: the run, what `begin` answered, the next time or ''. */
const endScript = `
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('ZREM', KEYS[1], ARGV[1]) else redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1]) end
return 1`
/** The work on a run that has not ended after that is done again, as that of a publisher that was killed. */
const goneMs = 30_000

const countScript = `
redis.call('SADD', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return redis.call('SCARD', KEYS[1])`
const countedSeconds = 2 * 86_400

/** Keeps in Redis which runs the publisher looks at again, and when; and which run a pull request is of. */
export function openPublishingRuns(redis: Redis, namespace = 'remora') {
  const prefix = `${namespace}:{github}:`
  const keys = { due: `${prefix}publishing`, failing: `${prefix}failing` }
  return {
    /** Looks at the run at `at` (ms since the epoch), or earlier if it is to be looked at earlier already. */
    async look(runId: RunId, at: number): Promise<void> {
      await orStoreError(redis.eval(lookScript, 1, keys.due, runId, String(at)))
    },
    /** The run is not due from now on until `end`, unless somebody says meanwhile that it is to be looked at. */
    async begin(runId: RunId): Promise<BegunLook> {
      const begunUntil = Date.now() + goneMs
      await orStoreError(redis.zadd(keys.due, begunUntil, runId))
      return { runId, begunUntil }
    },
    ...failingRuns(redis, keys.failing),
    /** Looks at it again at `next` and not before, or no more. Nothing where somebody has said otherwise since `begin`. */
    async end({ runId, begunUntil }: BegunLook, next: number | 'never'): Promise<void> {
      const args = [runId, String(begunUntil), next === 'never' ? '' : String(next)]
      await orStoreError(redis.eval(endScript, 1, keys.due, ...args))
    },
    async due(now: number, count: number): Promise<RunId[]> {
      const members = await orStoreError(redis.zrangebyscore(keys.due, 0, now, 'LIMIT', 0, count))
      return z.array(RunId).parse(members)
    },
    /** Counts the runs that are looked at again; `dueAt` is when the first of them is to be, null when there is none. */
    async backlog(): Promise<{ count: number; dueAt: number | null }> {
      const count = await orStoreError(redis.zcard(keys.due))
      const [, dueAt] = await orStoreError(redis.zrange(keys.due, '0', '0', 'WITHSCORES'))
      return { count, dueAt: dueAt === undefined ? null : Number(dueAt) }
    },
    /** Counts a pull request that is about to be opened, once; answers how many that are on the day (`2026-11-27`, UTC). */
    async countPull(repositoryId: number, { day, pull }: { day: string; pull: string }): Promise<number> {
      const key = `${prefix}opened:${repositoryId}:${day}`
      return z.int().parse(await orStoreError(redis.eval(countScript, 1, key, String(countedSeconds), pull)))
    },
    ...openPulls(redis, prefix),
  }
}

/** Keeps which run a pull request is of, and whether it has its labels. */
function openPulls(redis: Redis, prefix: string) {
  const keys = { pulls: `${prefix}pulls`, unlabelled: `${prefix}unlabelled` }
  const fieldOf = (repositoryId: number, number: number) => `${repositoryId}/${number}`
  return {
    /** `isNew` says that it has no labels and reviewers yet, which are told by `noteLabelled`. */
    async notePull(
      repositoryId: number,
      number: number,
      { runId, isNew }: { runId: RunId; isNew: boolean },
    ): Promise<void> {
      const field = fieldOf(repositoryId, number)
      if (isNew) await orStoreError(redis.sadd(keys.unlabelled, field))
      await orStoreError(redis.hset(keys.pulls, field, runId))
    },
    async noteLabelled(repositoryId: number, number: number): Promise<void> {
      await orStoreError(redis.srem(keys.unlabelled, fieldOf(repositoryId, number)))
    },
    async isUnlabelled(repositoryId: number, number: number): Promise<boolean> {
      return (await orStoreError(redis.sismember(keys.unlabelled, fieldOf(repositoryId, number)))) === 1
    },
    async runOfPull(repositoryId: number, number: number): Promise<RunId | undefined> {
      return RunId.safeParse(await orStoreError(redis.hget(keys.pulls, fieldOf(repositoryId, number)))).data
    },
  }
}

/** Bounds how many runs of an installation a process publishes at once, so that a slow one does not keep the others waiting. */
export function openPlaces(ofInstallation: number) {
  const taken = new Map<number, number>()
  const change = (of: number, by: number) => {
    const count = (taken.get(of) ?? 0) + by
    if (count === 0) taken.delete(of)
    else taken.set(of, count)
  }
  return {
    /** Gives up the place that was taken; undefined: the installation has all of its places. */
    take(of: number): (() => void) | undefined {
      if ((taken.get(of) ?? 0) >= ofInstallation) return undefined
      change(of, 1)
      return () => change(of, -1)
    },
  }
}

function failingRuns(redis: Redis, key: string) {
  return {
    /** Returns since when (ms since the epoch) each look at the run has failed: since now for the first one. */
    async failingSince(runId: RunId): Promise<number> {
      await orStoreError(redis.hsetnx(key, runId, String(Date.now())))
      return Number((await orStoreError(redis.hget(key, runId))) ?? Date.now())
    },
    /** Is called after a look that did not fail, or whose failure was the last one. */
    async endFailing(runId: RunId): Promise<void> {
      await orStoreError(redis.hdel(key, runId))
    },
  }
}
