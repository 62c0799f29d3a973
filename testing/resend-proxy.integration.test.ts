import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testRedis, type TestRedis } from './redis.ts'
import { openResendProxy, type ResendProxy } from './resend-proxy.ts'

let server: TestRedis
let proxy: ResendProxy
let redis: Redis
beforeAll(async () => {
  server = await testRedis()
  proxy = await openResendProxy(server.url)
  redis = new Redis(proxy.url, { retryStrategy: () => 1 })
})
afterAll(async () => {
  await redis.quit()
  await proxy.close()
  await server.close()
})

it('hands on commands and answers of any length', async () => {
  const text = 'é\r\n'.repeat(200_000)
  const watch = proxy.watch()
  await redis.set(`${server.namespace}:long`, text)
  expect(await redis.get(`${server.namespace}:long`)).toBe(text)
  expect(watch.commands.map(([name]) => name)).toEqual(['set', 'get'])
  expect(watch.cuts).toBe(0)
})

it('loses the answer of the command it is told to, which the client then sends again', async () => {
  const key = `${server.namespace}:count`
  const watch = proxy.watch({ cutAt: 1 })
  expect(await redis.incr(key)).toBe(1)
  expect(await redis.incr(key)).toBe(3)
  expect(watch).toEqual({ commands: Array.from({ length: 3 }, () => ['incr', key]), cuts: 1, lost: ':2\r\n' })
})

it('lets Redis carry out what was sent in one go, of which the client sends again what had no answer', async () => {
  const key = `${server.namespace}:together`
  const watch = proxy.watch({ cutAt: 1 })
  expect(await Promise.all([redis.incr(key), redis.incr(key), redis.incr(key)])).toEqual([1, 4, 5])
  expect(watch.commands).toHaveLength(5)
})

it('lets the rest of a pipeline fail that was answered in part, as the client has it', async () => {
  const key = `${server.namespace}:pipeline`
  proxy.watch({ cutAt: 1 })
  const answers = await redis.pipeline().incr(key).incr(key).exec()
  expect(answers?.map(([error, value]) => error?.name ?? value)).toEqual([1, 'AbortError'])
})
