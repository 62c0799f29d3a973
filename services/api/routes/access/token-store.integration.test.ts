import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectRedis, type RedisConnection } from '#platform/redis-client.ts'
import { startRedisCluster, type TestRedisCluster } from '#testing/redis-cluster.ts'
import { openTokenStore } from './token-store.ts'
import { silentLog } from '#platform/log.ts'
import { testSigner } from '#testing/test-signer.ts'

let cluster: TestRedisCluster
let connection: RedisConnection
beforeAll(async () => {
  cluster = await startRedisCluster()
  connection = connectRedis(cluster.url, { retries: 20 }, silentLog)
})
afterAll(async () => {
  connection.redis.disconnect()
  await cluster.stop()
})

it('keeps tokens on a cluster: adds, reads, notes uses and removes them', async () => {
  const store = openTokenStore(connection.redis, { log: silentLog, signer: testSigner })
  const record = {
    tokenId: 't0123456789abcdef',
    projectId: 'default',
    name: 'on a cluster',
    scopes: ['runs:read' as const],
    createdAt: 1,
    expiresAt: 2,
  }
  expect([await store.add('aa', record), await store.add('aa', record)]).toEqual(['kept', 'kept'])
  await store.noteUse('aa', record.tokenId, 1234)
  expect(await store.readAll()).toEqual({ records: new Map([['aa', record]]), unreadable: new Map() })
  expect(await store.lastUses()).toEqual(new Map([[record.tokenId, 1234]]))
  await store.remove(['aa', 'never there'])
  expect(await store.add('aa', record)).toBe('removed before')
  await store.noteUse('aa', record.tokenId, 1235) // by a process that has not heard of it
  expect(await store.readAll()).toEqual({ records: new Map(), unreadable: new Map() })
  expect(await store.lastUses()).toEqual(new Map())
})
