import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { RedisClient } from '#platform/connect-redis.ts'
import { isReply } from '#platform/redis-reply.ts'

export type ScriptArg = string | number

/** Runs one Lua script in Redis: one round trip, its source travels only when the server does not know it yet. */
export type Script = (redis: RedisClient, keys: readonly string[], args: readonly ScriptArg[]) => Promise<unknown>

/** A script of a run: its keys start with `RunKeys.scripted`, and prelude.lua is put before it. */
export function runScript(name: string): Script {
  return scriptOf(`${sourceOf('prelude')}\n${sourceOf(name)}`)
}

export function plainScript(name: string): Script {
  return scriptOf(sourceOf(name))
}

function sourceOf(name: string): string {
  return readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8')
}

function scriptOf(source: string): Script {
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
