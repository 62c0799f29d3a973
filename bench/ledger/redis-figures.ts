import type { Redis } from 'ioredis'
import { delay } from '#platform/clock.ts'

/**
 * Time in commands by Redis' own count, which goes on while the kernel runs another program; CPU of the whole server,
 * which does not, and in which reading, answering and the append-only file are.
 */
export type RedisWork = { commandMs: number; cpuMs: number }

/** What Redis spends while `work` runs; of commands, those of these names. A script counts with all it calls. */
export async function redisWork(
  redis: Redis,
  commands: readonly string[],
  work: () => Promise<void>,
): Promise<RedisWork> {
  const before = await cpuMs(redis)
  await redis.config('RESETSTAT')
  await work()
  const after = await cpuMs(redis)
  const stats = await redis.info('commandstats')
  const usecOf = (name: string) =>
    Number(new RegExp(`^cmdstat_${name}:calls=\\d+,usec=(\\d+)`, 'm').exec(stats)?.[1] ?? 0)
  return { commandMs: commands.reduce((sum, name) => sum + usecOf(name), 0) / 1000, cpuMs: after - before }
}

async function cpuMs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu')
  const seconds = [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, value]) => Number(value))
  return seconds.reduce((sum, value) => sum + value, 0) * 1000
}

export const scripts = ['evalsha', 'eval'] as const

/** Memory Redis has allocated for data: without the buffers of clients and of the append-only file. */
export async function dataBytes(redis: Redis): Promise<number> {
  const memory = await redis.info('memory')
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(memory)?.[1] ?? 0)
  return field('used_memory') - field('mem_clients_normal') - field('mem_aof_buffer')
}

const restMs = 250
const steadyShare = 0.0005

/** The same once it is steady: lazy frees and the growing of hash tables go on after the last command. */
export async function settledBytes(redis: Redis): Promise<number> {
  let last = await dataBytes(redis)
  for (let steady = 0; steady < 3;) {
    await delay(restMs)
    const next = await dataBytes(redis)
    steady = Math.abs(next - last) <= last * steadyShare ? steady + 1 : 0
    last = next
  }
  return last
}

export async function redisVersion(redis: Redis): Promise<string> {
  return /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown'
}
