import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMetrics } from '#platform/metrics/open-metrics.ts'
import { loggedOutages } from '#store/objects/logged-outages.ts'
import { objectStoreCheck } from '#store/objects/object-store.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { delay } from '#platform/clock.ts'
import { openHealth } from '#platform/http-health.ts'
import { startLocalS3, type LocalS3 } from '#testing/local-s3.ts'
import { openPartCheck, openReadiness, type PartState } from '#platform/readiness.ts'
import { openModelPool } from '#models/model-pool.ts'
import { startModelServer } from '#models/pool/model-server.fixture.ts'
import { openSmallRedis } from '#testing/redis.ts'
import { useOpened } from '#testing/use-opened.ts'
import { recordedLog, soonClock } from '#testing/recorded-log.ts'
import { until } from '#testing/until.ts'
import { openStoreGate } from '../../services/worker/store-gate.ts'
import { keepPresent, openModelsInUse } from '../../services/worker/worker-presence.ts'
import { openStoreProxy, type StoreProxy } from '../chaos/store-proxy.ts'

let dir = ''
let s3: LocalS3
let proxy: StoreProxy
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-s3-'))
  s3 = await startLocalS3({ dir })
  proxy = await openStoreProxy(s3.endpoint)
})
afterAll(async () => {
  await proxy.close()
  await s3.stop()
  await rm(dir, { recursive: true, force: true })
})

type Place = { endpoint?: string; bucket?: string; secretAccessKey?: string; silentMs?: number }

function openStore({
  endpoint = proxy.endpoint,
  bucket = s3.bucket,
  secretAccessKey = s3.secretAccessKey,
  silentMs,
}: Place = {}) {
  const credentials = { accessKeyId: s3.accessKeyId, secretAccessKey }
  return openS3ObjectStore({ endpoint, bucket, region: s3.region, credentials, silentMs })
}

/** The state that a service says its store is in. */
async function stateOf(place: Place): Promise<unknown> {
  const objects = openStore(place)
  const { parts } = await openReadiness({ object_store: objectStoreCheck(objects) })()
  objects.close()
  return parts['object_store']
}

describe('the readiness of a service', () => {
  it('says what is wrong with its object store', async () => {
    expect(await stateOf({})).toEqual({ state: 'ok', message: 'it answers' })
    expect(await stateOf({ bucket: 'another' })).toEqual({ state: 'away', message: 'the bucket does not exist' })
    const refused = { state: 'away', message: expect.stringMatching(/^it refuses our keys \(\w+\)$/) }
    expect(await stateOf({ secretAccessKey: 'wrong' })).toEqual(refused)
    expect(await stateOf({ endpoint: 'http://127.0.0.1:9' })).toEqual({
      state: 'away',
      message: 'it cannot be reached',
    })
    proxy.setFault('503')
    expect(await stateOf({})).toEqual({ state: 'away', message: 'it answers 503 (SlowDown)' })
    proxy.setFault(undefined)
  })

  it('is lost while the store has no room for a write, and back as soon as it takes one', async () => {
    const objects = openStore()
    const health = await openHealth(
      { host: '127.0.0.1', port: 0 },
      { readiness: openReadiness({ object_store: objectStoreCheck(objects) }), metrics: openMetrics('worker') },
    )
    const ready = async () => fetch(`http://127.0.0.1:${health.port}/readyz`)
    try {
      proxy.setFault('full')
      expect((await ready()).status).toBe(200)
      await expect(objects.put('projects/p/blobs/one', 'x')).rejects.toMatchObject({ code: 'STORE_002' })
      const answer = await until(ready, { holds: ({ status }) => status === 503 })
      const message = 'it has no room left, and refuses every write'
      expect(await answer.json()).toEqual({ status: 'not ready', parts: { object_store: { state: 'full', message } } })
      expect(Buffer.from(await objects.get('ping').catch(() => Buffer.from('none'))).toString()).toBe('none')
      proxy.setFault(undefined)
      await until(ready, { holds: ({ status }) => status === 200 })
    } finally {
      proxy.setFault(undefined)
      await health.close()
      objects.close()
    }
  })

  it('costs one request when 200 ask at once, whether the store answers or not, and all are answered', async () => {
    const objects = openStore()
    const readiness = openReadiness({ object_store: objectStoreCheck(objects) })
    const askOften = () => Promise.all(Array.from({ length: 200 }, readiness))
    let before = proxy.requests()
    try {
      expect((await askOften()).filter(({ status }) => status === 'ready')).toHaveLength(200)
      expect(proxy.requests() - before).toBe(1)
      proxy.setFault('silent')
      before = proxy.requests()
      const message = 'no answer within a second'
      const late = await until(async () => (await askOften()).find(({ status }) => status === 'not ready'))
      expect(late.parts).toEqual({ object_store: { state: 'away', message } })
      expect(proxy.requests() - before).toBe(1)
      proxy.setFault(undefined)
      await until(readiness, { holds: ({ status }) => status === 'ready' })
    } finally {
      proxy.setFault(undefined)
      objects.close()
    }
  })
})

it('an object store that is frozen is one outage in the log, as soon as a ping has no answer', async () => {
  const { log, entries, messages } = recordedLog({ clock: soonClock })
  const objects = loggedOutages(openStore({ endpoint: s3.endpoint }), log)
  const readiness = openReadiness({ object_store: objectStoreCheck(objects) })
  const seen = async () => ({ ...(await readiness()), said: entries.length })
  try {
    await objects.put('projects/p/blobs/frozen', 'x')
    process.kill(s3.pid, 'SIGSTOP')
    const reading = [1, 2, 3].map(() => objects.get('projects/p/blobs/frozen'))
    await until(seen, { holds: ({ status, said }) => status === 'not ready' && said > 0 })
    process.kill(s3.pid, 'SIGCONT')
    await Promise.all(reading)
    await until(seen, { holds: ({ status, said }) => status === 'ready' && said > 1 })
    expect(messages()).toEqual(['the object store cannot be used', 'the object store can be used again'])
  } finally {
    process.kill(s3.pid, 'SIGCONT')
    objects.close()
  }
})

describe('a worker whose object store gives no answer within a second', () => {
  const server = useOpened(openSmallRedis)

  it('goes on taking operations when the answer comes late, and takes none while no answer is of use', async () => {
    const late = await openStoreProxy(s3.endpoint, { slowMs: 1_500 })
    const objects = openStore({ endpoint: late.endpoint })
    const check = openPartCheck(objectStoreCheck(objects))
    const { log, messages } = recordedLog()
    const model = await startModelServer('good')
    const endpoints = [{ url: model.url, models: ['own'] }]
    const pool = openModelPool({ endpoints, requestTimeoutMs: 1_000, retryBudgetMs: 0, maxInFlight: 1 })
    const taken: number[] = []
    const leave = await keepPresent({
      redis: server.redis,
      id: 'worker-1',
      operations: 8,
      models: openModelsInUse(pool, 'own'),
      store: openStoreGate(check, log),
      programs: async () => ({ names: [] }),
      everyMs: 1_000,
      take: (most) => void taken.push(most),
      log,
    })
    const isSeen = (state: PartState['state']) => until(check, { holds: (part) => part.state === state })
    try {
      late.setFault('slow')
      await isSeen('away')
      await isSeen('ok')
      expect([taken, messages()]).toEqual([[], []])
      late.setFault('503')
      await until(() => taken.length === 1)
      late.setFault(undefined)
      await until(() => taken.length === 2)
      expect(taken).toEqual([0, 8])
    } finally {
      await leave()
      await pool.close()
      model.close()
      objects.close()
      await late.close()
    }
  })
})

describe('an object store of a service that does not wait for long', () => {
  const key = 'projects/p/uploads/one'

  it('asks a silent store once, whatever it reads', async () => {
    const objects = openStore({ silentMs: 200 })
    proxy.setFault('silent')
    const before = proxy.requests()
    const asked = [
      objects.get(key),
      objects.getRange(key, { start: 0, end: 1 }),
      objects.stat(key),
      objects.delete(key),
      Array.fromAsync(objects.getStream(key)),
      Array.fromAsync(objects.list('projects/p/')),
    ]
    try {
      for (const one of await Promise.allSettled(asked)) {
        expect(one).toMatchObject({ status: 'rejected', reason: { code: 'STORE_002' } })
      }
      expect(proxy.requests() - before).toBe(asked.length)
    } finally {
      proxy.setFault(undefined)
      objects.close()
    }
  })

  it('takes and gives a large object, however long its sender and its reader take', async () => {
    const objects = openStore({ silentMs: 300 })
    async function* slowly() {
      for (let part = 0; part < 8; part += 1) {
        await delay(100)
        yield new Uint8Array(1024 * 1024).fill(part)
      }
    }
    try {
      const { bytes } = await objects.putStream(key, slowly(), { maxBytes: 2 ** 24, contentType: 'text/plain' })
      let read = 0
      for await (const chunk of objects.getStream(key)) {
        if (read === 0) await delay(800)
        read += chunk.length
      }
      expect([bytes, read]).toEqual([2 ** 23, 2 ** 23])
    } finally {
      objects.close()
    }
  })
})
