import type { Redis } from 'ioredis'
import type { RedisClient } from '#platform/redis-client.ts'

/** The same connection, whose process dies instead of sending its command number `last`. */
export function dyingAfter(redis: Redis, last: number): RedisClient {
  let sent = 0
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        sent += 1
        return sent > last ? Promise.reject(new TypeError('the process died here')) : Reflect.apply(value, target, args)
      }
    },
  })
}
