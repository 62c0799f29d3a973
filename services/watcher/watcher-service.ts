import { openSharedPool } from '#models/shared-pool.ts'
import { openHealth } from '#platform/http-health.ts'
import type { Log } from '#platform/log.ts'
import { openMetrics } from '#platform/metrics/open-metrics.ts'
import { openReadiness } from '#platform/readiness.ts'
import { connectRedis, patientAnswerMs } from '#platform/redis-client.ts'
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
import { runWatcher } from '#stages/watch/run-watcher.ts'
import type { WatcherConfig } from './watcher-config.ts'

/** Names the consumer group of all processes of the watcher. `idleMs`: what one left unread goes to another. */
const reading = { group: 'watcher', idleMs: 60_000, waitMs: 5_000 }
/** Is how many requests a watcher has open at each server: workers need the others. */
const slots = 4
/** The active runs are looked at at least so often, and four times in the time after which one has stalled. */
const mostLookMs = 30_000

type ServiceDeps = { log: Log; redactor: Redactor }

/** Watches all runs beside any number of other such processes. It decides nothing: it asks for decisions. */
export async function startWatcher(config: WatcherConfig, { log, redactor }: ServiceDeps) {
  const { storage, thresholds, watcherId, model: how } = config
  const { redisUrl, s3, events } = storage
  const releaser = openReleaser()
  try {
    const { redis, stopWaiting } = connectRedis(redisUrl, { retries: 20, answerMs: patientAnswerMs }, log)
    releaser.add('redis', async () => redis.disconnect())
    await expectUsableRedis(redis)
    const metrics = openMetrics('watcher')
    const objects = permittedPuts(loggedOutages(await openObjects(s3), log, metrics), openPutPermit(redis))
    releaser.add('objects', async () => objects.close())
    const origin = { kind: 'watcher', id: watcherId } as const
    const archive = openEventSegments(objects, events)
    const ledger = openLedger(redis, { origin, archive, redactor, log, traces: noTracing })
    const model = openSharedPool(how, { redis, holder: watcherId, slots, metrics, log })
    releaser.add('model pool', () => model.close())
    const { temperature, toolChoice } = how
    const asked = async (signal: AbortSignal) => ({
      model: how.name ?? (await model.firstModel(signal)),
      temperature,
      toolChoice,
    })
    const needed = { redis: redisCheck(redis), object_store: objectStoreCheck(objects) }
    const readiness = openReadiness(needed, { redis_user: redisUserCheck(redis, 'watcher') })
    const health = await openHealth(config.health, { readiness, metrics })
    releaser.add('health', health.close)
    const waiting = connectRedis(redisUrl, { retries: null }, log)
    releaser.add('connection that waits', async () => waiting.redis.disconnect())
    const ranges = await openToldGroup({ redis: waiting.redis }, reading)
    const lookMs = Math.min(mostLookMs, thresholds.stalled_s * 250)
    const deps = { ledger, reviewer: { model, asked }, thresholds, origin, ranges, now: () => redisNowMs(redis), log }
    const endWatching = runWatcher(deps, { lookMs })
    releaser.add('watcher', async () => {
      waiting.stopWaiting()
      if (waiting.isConnected()) waiting.redis.disconnect() // else what waits for the connection would wait for ever
      await endWatching()
    })
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}
