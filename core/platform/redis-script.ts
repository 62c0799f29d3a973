import { hash } from 'node:crypto'
import type { RedisClient } from './connect-redis.ts'

/** Redis' error replies name their kind in their first word; that word, not the sentence after it, is the interface. */
export function isReply(error: unknown, kind: string): boolean {
  return error instanceof Error && error.name === 'ReplyError' && error.message.startsWith(`${kind} `)
}

export type ScriptArg = string | number

/** Runs one Lua script in Redis, in one round trip; its source is sent only when the server does not have it yet. */
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
