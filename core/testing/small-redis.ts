import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startLocalRedis } from '#platform/local-redis.ts'
import { isReply } from '#platform/redis-reply.ts'

const mib = 1024 * 1024

export type SmallRedis = {
  url: string
  redis: Redis
  /** Fills the memory up to a share of it. */
  fillTo(share: number): Promise<void>
  /** Fills it until it takes no byte more. */
  fill(): Promise<void>
  /** Gives all of that back. */
  empty(): Promise<void>
  close(): Promise<void>
}

/** A Redis of its own with 30 MiB of memory. */
export async function openSmallRedis(): Promise<SmallRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-small-redis-'))
  const server = await startLocalRedis({ dir })
  const redis = new Redis(server.url)
  await redis.config('SET', 'maxmemory', '30mb')
  let fillings = 0
  const add = async (bytes: number) => redis.set(`filling:${fillings++}`, Buffer.alloc(bytes))
  const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
  return {
    url: server.url,
    redis,
    async fillTo(share) {
      while ((await used()) < share * 30 * mib) await add(mib / 4)
    },
    async fill() {
      for (let bytes = mib; bytes >= 1; bytes = Math.floor(bytes / 2)) await addUntilFull(() => add(bytes))
    },
    async empty() {
      for (let at = 0; at < fillings; at += 100) {
        await redis.del(...Array.from({ length: 100 }, (_, next) => `filling:${at + next}`))
      }
    },
    async close() {
      await redis.quit()
      await server.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function addUntilFull(add: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await add()
    } catch (error) {
      if (isReply(error, 'OOM')) return
      throw error
    }
  }
}
