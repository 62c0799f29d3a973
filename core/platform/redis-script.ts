import { hash } from 'node:crypto'
import type { RedisClient } from './connect-redis.ts'
import { isReply } from './redis-reply.ts'

export type ScriptArg = string | number

/** Runs one Lua script in Redis: one round trip, its source travels only when the server does not know it yet. */
export type Script = (redis: RedisClient, keys: readonly string[], args: readonly ScriptArg[]) => Promise<unknown>

export function redisScript(source: string): Script {
  const sha = hash('sha1', source, 'hex')
  return async (redis, keys, args) => {
    try {
      return await redis.evalsha(sha, keys.length, ...keys, ...args)
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error
      return redis.eval(source, keys.length, ...keys, ...args)
    }
  }
}
