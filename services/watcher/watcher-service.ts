import type { ServiceDeps } from '#platform/service-process.ts'
import { openSharedPool } from '#models/shared-pool.ts'
import { connectRedis } from '#platform/redis-client.ts'
import { redisNowMs } from '#store/ledger/store.ts'
import { openToldGroup } from '#store/ledger/told-events.ts'
import { startService } from '#store/start-service.ts'
import { runWatcher } from '#stages/watch/run-watcher.ts'
import { parseConfig, type WatcherConfig } from './watcher-config.ts'

/** Names the consumer group of all processes of the watcher. `idleMs`: what one left unread goes to another. */
const reading = { group: 'watcher', idleMs: 60_000, waitMs: 5_000 }
/** Is how many requests a watcher has open at each server: workers need the others. */
const slots = 4
/** The active runs are looked at at least so often, and four times in the time after which one has stalled. */
const mostLookMs = 30_000

export const watcher = { name: 'watcher', refuses: 'keyFault', parseConfig, start: startWatcher } as const

/** Watches all runs beside any number of other such processes. It decides nothing: it asks for decisions. */
export function startWatcher(config: WatcherConfig, deps: ServiceDeps) {
  const { storage, health, thresholds, watcherId, model: how } = config
  const { log } = deps
  const origin = { kind: 'watcher', id: watcherId } as const
  return startService({ name: 'watcher', origin, storage, health }, deps, async (stores, releaser) => {
    const { redis, metrics, ledger } = stores
    const model = openSharedPool(how, { redis, holder: watcherId, slots, metrics, log })
    releaser.add('model pool', () => model.close())
    const { temperature, toolChoice } = how
    const asked = async (signal: AbortSignal) => ({
      model: how.name ?? (await model.firstModel(signal)),
      temperature,
      toolChoice,
    })
    const waiting = connectRedis(storage.redisUrl, { retries: null }, log)
    releaser.add('connection that waits', async () => waiting.redis.disconnect())
    const ranges = await openToldGroup({ redis: waiting.redis }, reading)
    const lookMs = Math.min(mostLookMs, thresholds.stalled_s * 250)
    const watching = {
      ledger,
      reviewer: { model, asked },
      thresholds,
      origin,
      ranges,
      now: () => redisNowMs(redis),
      log,
    }
    const endWatching = runWatcher(watching, { lookMs })
    releaser.add('watcher', async () => {
      waiting.stopWaiting()
      if (waiting.isConnected()) waiting.redis.disconnect() // else what waits for the connection would wait for ever
      await endWatching()
    })
    return {}
  })
}
