import { bundleNames } from '#bundles/bundle-names.ts'
import { openLedger } from '#ledger/ledger.ts'
import { openMemoryGate } from '#ledger/memory-gate.ts'
import { openBlobStore } from '#objects/blob-store.ts'
import { openEventSegments } from '#objects/event-segments.ts'
import { openS3ObjectStore } from '#objects/s3-object-store.ts'
import { connectRedis } from '#platform/connect-redis.ts'
import type { Log } from '#platform/log.ts'
import { openReleaser } from '#platform/shutdown.ts'
import { openProducer } from '#queues/producer.ts'
import { createApp } from './app.ts'
import type { ApiConfig } from './config.ts'
import { serveApp } from './http/serve-app.ts'
import { openIdempotencyStore } from './intake/idempotency.ts'
import { openChangeRecords } from './review/open-change-records.ts'

export type ApiService = {
  url: string
  /** Stops accepting, ends waiting requests, lets the others finish for up to 10 s, then closes what it opened. */
  close(): Promise<void>
}

const graceMs = 10_000
/** Commands fail after one reconnect instead of waiting: a caller is told 503 at once and may come again. */
const impatient = { retries: 1, connectTimeoutMs: 2_000 }
const blobCacheBytes = 32 * 1024 * 1024

/** Starts the API: opens its stores, then its port. Resolves when it listens; the stores may still be connecting. */
export async function startApi(config: ApiConfig, deps: { log: Log }): Promise<ApiService> {
  const { log } = deps
  const { namespace = 'remora' } = config
  const releaser = openReleaser()
  try {
    const agents = await bundleNames(config.agentsDir)
    const { redis, isConnected } = connectRedis(config.storage.redisUrl, impatient, log)
    releaser.add('redis', async () => redis.disconnect())
    const objects = openS3ObjectStore(config.storage.s3)
    releaser.add('objects', async () => objects.close())
    const producer = openProducer({ redisUrl: config.storage.redisUrl, prefix: `{${namespace}}`, log })
    releaser.add('producer', () => producer.close())

    const archive = openEventSegments(objects)
    const ledger = openLedger(redis, { namespace, origin: { kind: 'api', id: 'api' }, archive })
    const records = openChangeRecords(objects, openBlobStore(objects, { maxCacheBytes: blobCacheBytes }))
    const idempotency = openIdempotencyStore(redis, namespace)
    const memoryGate = openMemoryGate(redis, config.redisMemoryShare)
    const closing = new AbortController()
    const app = createApp({
      tokens: config.tokens,
      log,
      isRedisReady: isConnected,
      readyChecks: { redis: () => redis.ping(), objects: () => objects.ping() },
      intake: { agents, maxUploadBytes: config.maxUploadBytes, objects, ledger, producer, idempotency, memoryGate },
      runs: { ledger, records, log, closing: closing.signal },
      changes: { ledger, records },
    })
    const served = await serveApp(app, { host: config.host, port: config.port, graceMs })
    releaser.add('http', served.close)
    releaser.add('waiting requests', async () => closing.abort())
    return { url: served.url, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}
