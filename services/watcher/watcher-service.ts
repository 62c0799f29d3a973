import { defaultModel } from '#domain/model-health.ts'
import { openModelPool } from '#models/model-pool.ts'
import { openSharedSlots } from '#models/pool/slots/shared-slots.ts'
import { openHealth } from '#platform/http-health.ts'
import { type Log, processName } from '#platform/log.ts'
import { openMetrics } from '#platform/metrics/open-metrics.ts'
import { openReadiness } from '#platform/readiness.ts'
import { connectRedis, patientAnswerMs, type RedisClient } from '#platform/redis-client.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { openReleaser } from '#platform/service-process.ts'
import { noTracing } from '#platform/tracing/open-tracing.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { expectUsableRedis, redisCheck } from '#store/ledger/redis-check.ts'
import { redisUserCheck } from '#store/ledger/redis-users.ts'
import { redisNowMs } from '#store/ledger/store.ts'
import { openToldGroup } from '#store/ledger/told-events.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { loggedOutages } from '#store/objects/logged-outages.ts'
import { objectStoreCheck, permittedPuts } from '#store/objects/object-store.ts'
import { openObjects } from '#store/objects/open-objects.ts'
import type { Reviewer } from '#stages/watch/review-window.ts'
import { runWatcher } from '#stages/watch/run-watcher.ts'
import type { WatcherConfig } from './watcher-config.ts'

/** Names the consumer group of all processes of the watcher. `idleMs`: what one left unread goes to another. */
const reading = { group: 'watcher', idleMs: 60_000, waitMs: 5_000 }
const requestsAtOnce = 16
/** The active runs are looked at at least so often, and four times in the time after which one has stalled. */
const mostLookMs = 30_000

type ServiceDeps = { log: Log; redactor: Redactor }

/** Watches all runs beside any number of other such processes. It decides nothing: it asks for decisions. */
export async function startWatcher(config: WatcherConfig, { log, redactor }: ServiceDeps) {
  const { storage, thresholds, health: address } = config
  const { redisUrl, s3, events } = storage
  const releaser = openReleaser()
  try {
    const { redis, stopWaiting } = connectRedis(redisUrl, { retries: 20, answerMs: patientAnswerMs }, log)
    releaser.add('redis', async () => redis.disconnect())
    await expectUsableRedis(redis)
    const metrics = openMetrics('watcher')
    const objects = permittedPuts(loggedOutages(await openObjects(s3), log, metrics), openPutPermit(redis))
    releaser.add('objects', async () => objects.close())
    const origin = { kind: 'watcher', id: processName() } as const
    const archive = openEventSegments(objects, events)
    const ledger = openLedger(redis, { origin, archive, redactor, log, traces: noTracing })
    const reviewer = openReviewer(config, { redis, log })
    releaser.add('model pool', reviewer.close)
    const needed = { redis: redisCheck(redis), object_store: objectStoreCheck(objects) }
    const readiness = openReadiness(needed, { redis_user: redisUserCheck(redis, 'watcher') })
    const health = await openHealth(address, { readiness, metrics })
    releaser.add('health', health.close)
    const waiting = connectRedis(redisUrl, { retries: null }, log)
    const ranges = await openToldGroup({ redis: waiting.redis }, reading)
    const lookMs = Math.min(mostLookMs, thresholds.stalled_s * 250)
    const deps = { ledger, reviewer, thresholds, origin, ranges, now: () => redisNowMs(redis), log }
    const endWatching = runWatcher(deps, { lookMs })
    releaser.add('watcher', async () => {
      waiting.stopWaiting()
      waiting.redis.disconnect()
      await endWatching()
    })
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

type ReviewerDeps = { redis: RedisClient; log: Log }

function openReviewer(
  { model, role }: WatcherConfig,
  { redis, log }: ReviewerDeps,
): Reviewer & { close(): Promise<void> } {
  const { servers, apiKey, name, timeoutMs, ...how } = model
  const pool = openModelPool({
    ...how,
    endpoints: servers.map((server) => ({ ...server, apiKey })),
    slots: openSharedSlots({ redis, holder: processName(), log }),
    requestTimeoutMs: timeoutMs,
    maxInFlight: requestsAtOnce,
    log,
  })
  const named = role === defaultModel ? name : role
  return { model: pool, name: async (signal) => named ?? pool.firstModel(signal), close: pool.close }
}
