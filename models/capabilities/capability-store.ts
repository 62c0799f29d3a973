import { randomUUID } from 'node:crypto'
import { parseJson } from '#domain/json.ts'
import { repeatEvery, withinLimit } from '#platform/clock.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { ProbedCapabilities } from './probed-capabilities.ts'

/** Decides which process probes a server for a model, and stores what was found. No method rejects. */
export type CapabilityStore = {
  /**
   * `mine`: this process has the lease on the probe and is to probe. `others`: another process probes, ask again soon.
   * `valid`: what is known is valid for so long, in milliseconds.
   */
  lease(server: string, model: string): Promise<ProbeLease>
  /** Renews the lease, which otherwise ends after a while, until the returned function is called. */
  renewLease(server: string, model: string): () => Promise<void>
  save(server: string, model: string, probed: ProbedCapabilities): Promise<void>
  /** Ends the lease: what was found is valid for so long. */
  finish(server: string, model: string, probed: ProbedCapabilities, validMs: number): Promise<void>
  /** Marks what is known as no longer valid; does nothing within a minute of the last time. */
  invalidate(server: string, model: string): Promise<void>
}

type ProbeLease =
  | { kind: 'mine'; known: ProbedCapabilities | undefined }
  | { kind: 'others'; known: ProbedCapabilities | undefined }
  | { kind: 'valid'; known: ProbedCapabilities; validMs: number }

export function openLocalCapabilityStore(): CapabilityStore {
  return {
    lease: async () => ({ kind: 'mine', known: undefined }),
    renewLease: () => async () => {},
    async save() {},
    async finish() {},
    async invalidate() {},
  }
}

/** `leaseMs`: how long the lease of a process that died keeps the others from probing. */
type SharedStoreOptions = { redis: RedisClient; namespace?: string; leaseMs?: number }

/** Commands wait no longer for a Redis that does not answer. */
const redisLimitMs = 1000
const defaultLeaseMs = 60_000
const invalidatedMs = 60_000
/** A process that starts uses what was found within the last hour, and probes only what is no longer valid. */
const storedMs = 60 * 60_000
/** Is the value of the `turn` key while what was found is valid; otherwise it is the mark of the process that probes. */
const resting = 'resting'
const renewalsPerLease = 4
const mineAlone: ProbeLease = { kind: 'mine', known: undefined }

/** Shares what was found through Redis: one process at a time probes a server for a model; without Redis, each does so. */
export function openSharedCapabilityStore(options: SharedStoreOptions): CapabilityStore {
  const { redis, namespace = 'remora', leaseMs = defaultLeaseMs } = options
  /** `turn` is the key of the lease. */
  const keysOf = (server: string, model: string) => {
    const name = `${namespace}:{findings:${server} ${model}}`
    return { turn: `${name}:turn`, found: `${name}:found`, doubted: `${name}:doubted` }
  }
  const marks = new Map<string, string>()
  const renew = async (turn: string) => {
    if ((await redis.get(turn)) === marks.get(turn)) await redis.pexpire(turn, leaseMs)
  }
  const write = async (key: string, probed: ProbedCapabilities) => {
    await redis.set(key, JSON.stringify(probed), 'PX', storedMs)
  }
  return {
    lease(server, model) {
      const keys = keysOf(server, model)
      const mark = randomUUID()
      marks.set(keys.turn, mark)
      return orWithoutRedis(() => takeLease(redis, keys, { mark, leaseMs }), mineAlone)
    },
    renewLease(server, model) {
      const { turn } = keysOf(server, model)
      return repeatEvery(leaseMs / renewalsPerLease, () => orWithoutRedis(() => renew(turn), undefined))
    },
    save: (server, model, probed) => orWithoutRedis(() => write(keysOf(server, model).found, probed), undefined),
    finish(server, model, probed, validMs) {
      const { turn, found } = keysOf(server, model)
      marks.delete(turn)
      return orWithoutRedis(async () => {
        await write(found, probed)
        await redis.set(turn, resting, 'PX', Math.ceil(validMs))
      }, undefined)
    },
    invalidate(server, model) {
      const { turn, doubted } = keysOf(server, model)
      return orWithoutRedis(async () => {
        const isFirst = (await redis.set(doubted, '1', 'PX', invalidatedMs, 'NX')) === 'OK'
        if (isFirst && (await redis.get(turn)) === resting) await redis.del(turn)
      }, undefined)
    },
  }
}

async function takeLease(
  redis: RedisClient,
  keys: { turn: string; found: string },
  { mark, leaseMs }: { mark: string; leaseMs: number },
): Promise<ProbeLease> {
  // The reply may be lost and the command sent again, so the mark decides whose lease it is.
  await redis.set(keys.turn, mark, 'PX', leaseMs, 'NX')
  const [holder, found, leftMs] = await Promise.all([
    redis.get(keys.turn),
    redis.get(keys.found),
    redis.pttl(keys.turn),
  ])
  const known = ProbedCapabilities.safeParse(parseJson(found ?? '')).data
  if (holder === mark) return { kind: 'mine', known }
  if (holder !== resting || leftMs <= 0) return { kind: 'others', known }
  return known === undefined ? mineAlone : { kind: 'valid', known, validMs: leftMs }
}

/** Returns the result of `work`, or `fallback` when Redis fails or does not answer in time. */
async function orWithoutRedis<T>(work: () => Promise<T>, fallback: T): Promise<T> {
  const signal = new AbortController().signal
  const done = work().catch(() => fallback)
  return withinLimit(done, { limitMs: redisLimitMs, signal, late: () => fallback })
}
