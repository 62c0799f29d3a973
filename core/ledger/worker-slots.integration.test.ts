import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testRedis, type TestRedis } from '#testing/redis.ts'
import { announceSlots, liveSlots, withdrawSlots } from './worker-slots.ts'

let server: TestRedis
let redis: Redis

beforeAll(async () => {
  server = await testRedis()
  redis = new Redis(server.url)
})
afterAll(async () => {
  redis.disconnect()
  await server.close()
})

it('adds up the slots of the workers that are there, once each', async () => {
  const { namespace } = server
  await announceSlots(redis, { id: 'a', slots: 16 }, namespace)
  await announceSlots(redis, { id: 'a', slots: 16 }, namespace)
  await announceSlots(redis, { id: 'b', slots: 4 }, namespace)
  expect(await liveSlots(redis, namespace)).toBe(20)
  await withdrawSlots(redis, { id: 'a', slots: 16 }, namespace)
  expect(await liveSlots(redis, namespace)).toBe(4)
})

it('forgets a worker that stopped saying so', async () => {
  const { namespace } = server
  await redis.zadd(`${namespace}:{all}:slots`, 1, 'dead/100')
  expect(await liveSlots(redis, namespace)).toBe(4)
})
