import { Redis } from 'ioredis'
import { beforeEach, expect, it } from 'vitest'
import type { ModelHealth } from '#domain/model-health.ts'
import { testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openFleet, readFleet } from './fleet.ts'
import { announceWorker, wantedModels, wantModels, withdrawWorker } from './live-workers.ts'

let namespace: string
let tests = 0

const test = useOpened(testLedger)
beforeEach(() => {
  namespace = `${test.namespace}${(tests += 1)}`
})

function seen(model: string, awaySince: number | null, url = 'http://gpu:8000/v1'): ModelHealth {
  const isWorking = awaySince === null
  const lastError = isWorking ? null : 'no answer: ECONNREFUSED'
  const nextProbeAt = isWorking ? null : awaySince + 3000
  return { model, isWorking, awaySince, servers: [{ url, isWorking, hasAnswered: isWorking, lastError, nextProbeAt }] }
}

const announce = (id: string, operations: number, ...models: ModelHealth[]) =>
  announceWorker(test.redis, { id, operations, models, version: '0.1.0', startedAt: 1_000 }, namespace)
const fleet = (without?: string) => readFleet(test.redis, { namespace, ...(without === undefined ? {} : { without }) })

it('adds up the operations that the workers take, once each, also after a change', async () => {
  await announce('a', 16)
  await announce('a', 16)
  await announce('b', 4)
  expect(await fleet()).toMatchObject({ operations: 20 })
  await announce('a', 0)
  expect(await fleet()).toMatchObject({ operations: 4 })
  await withdrawWorker(test.redis, 'b', namespace)
  expect(await fleet()).toMatchObject({ operations: 0 })
})

it('forgets a worker that stopped saying so', async () => {
  await announce('b', 4)
  await test.redis.hset(
    `${namespace}:{all}:workers`,
    'dead',
    JSON.stringify({ until: 1, operations: 100, models: [seen('default', 5)], version: '0.1.0', startedAt: 0 }),
  )
  expect(await fleet()).toMatchObject({ operations: 4, away: [] })
})

it('finds a model away when no live worker can use it, since the last could', async () => {
  await announce('a', 4, seen('default', 1000))
  await announce('b', 4, seen('default', null))
  expect(await fleet()).toMatchObject({ away: [], working: new Set(['default']) })
  expect(await fleet('b')).toMatchObject({ away: [{ model: 'default', since: 1000 }], operations: 4 })
  await announce('b', 4, seen('default', 2000, 'http://other:8000/v1'))
  const servers = [{ url: 'http://gpu:8000/v1' }, { url: 'http://other:8000/v1', lastError: 'no answer: ECONNREFUSED' }]
  expect(await fleet()).toMatchObject({ away: [{ model: 'default', since: 2000, servers }], working: new Set() })
})

it('finds a model served by the workers that take operations', async () => {
  await announce('a', 4, seen('default', null), seen('lora', 1000))
  await announce('paused', 0, seen('default', 1000), seen('lora', null))
  const both = new Set(['default', 'lora'])
  expect(await fleet()).toMatchObject({ away: [], working: both, served: new Set(['default']) })
})

it('finds none away that some worker has not judged', async () => {
  await announce('a', 4, seen('lora', 1000))
  await announce('b', 4)
  expect(await fleet()).toMatchObject({ away: [], working: new Set() })
  await withdrawWorker(test.redis, 'b', namespace)
  expect(await fleet()).toMatchObject({ away: [{ model: 'lora' }] })
})

it('says which models runs wait for', async () => {
  await wantModels(test.redis, ['lora', 'default'], namespace)
  await test.redis.zadd(`${namespace}:{all}:wanted-models`, 1, 'old')
  expect((await wantedModels(test.redis, namespace)).toSorted()).toEqual(['default', 'lora'])
})

it('adds up what the servers take of all workers, and knows nothing while one does not say so', async () => {
  const pool = (limit: number, url = 'http://gpu:8000/v1') => ({
    waiting: 3,
    servers: [{ url, most: 16, limit, inFlight: 0, breaker: 'closed' }],
  })
  const joins = (id: string, limit: number, url?: string) =>
    announceWorker(
      test.redis,
      { id, operations: 256, models: [], version: '0.1.0', startedAt: 1_000, pool: pool(limit, url) },
      namespace,
    )
  for (const id of ['a', 'b', 'c', 'd']) await joins(id, 16)
  expect(await fleet()).toMatchObject({ operations: 1024, capacity: 16, stuck: 0 })
  for (const id of ['a', 'b', 'c']) await joins(id, 2)
  await joins('d', 4, 'http://other:8000/v1')
  expect(await fleet()).toMatchObject({ capacity: 10 })
  await joins('d', 0, 'http://other:8000/v1')
  expect(await fleet()).toMatchObject({ capacity: 6, stuck: 3 })
  await announce('earlier', 4)
  expect(await fleet()).toMatchObject({ operations: 1028, capacity: undefined })
})

it('says STORE_001 when Redis is out of reach, for which no run is to blame', async () => {
  const closed = new Redis(test.redisUrl)
  closed.disconnect()
  const { read, want } = openFleet(closed, namespace)
  await expect(read()).rejects.toMatchObject({ code: 'STORE_001' })
  await expect(want(['lora'])).rejects.toMatchObject({ code: 'STORE_001' })
})
