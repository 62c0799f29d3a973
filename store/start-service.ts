import type { EventOrigin } from '#domain/event.ts'
import { type HealthAddress, openHealth } from '#platform/http-health.ts'
import { processName } from '#platform/log.ts'
import { openMetrics } from '#platform/metrics/open-metrics.ts'
import { openReadiness, type PartChecks } from '#platform/readiness.ts'
import { connectRedis, patientAnswerMs } from '#platform/redis-client.ts'
import { openReleaser, type Releaser, type ServiceDeps } from '#platform/service-process.ts'
import type { Signer } from '#platform/signer.ts'
import { noTracing, openTracing } from '#platform/tracing/open-tracing.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { type Ledger, openLedger } from '#store/ledger/ledger.ts'
import { expectUsableRedis, redisCheck } from '#store/ledger/redis-check.ts'
import { redisUserCheck } from '#store/ledger/redis-users.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { loggedOutages } from '#store/objects/logged-outages.ts'
import { objectStoreCheck, permittedPuts } from '#store/objects/object-store.ts'
import { openObjects } from '#store/objects/open-objects.ts'

type StoredService = {
  name: 'conductor' | 'discovery' | 'publisher' | 'setup' | 'watcher'
  /** Is that of its events. */
  origin: EventOrigin
  storage: {
    redisUrl: string
    s3: Parameters<typeof openObjects>[0]
    events: Parameters<typeof openEventSegments>[1]
  }
  health: HealthAddress
  /** Holds what it needs besides the stores. */
  needs?: PartChecks
  /** Is told of, and not needed. */
  shown?: (ledger: Ledger) => PartChecks
  signer?: Signer
  traces?: Parameters<typeof openTracing>[0]
}

export type ServiceStores = Awaited<ReturnType<typeof openStores>>

/**
 * Starts a service that has both stores and a health port: `begin` opens the rest and adds what closes it. `close` closes all, last first, while the
 * service still answers for its health; a start that fails closes what it had opened.
 */
export async function startService<Told extends object>(
  service: StoredService,
  { log, redactor }: ServiceDeps,
  begin: (stores: ServiceStores, releaser: Releaser) => Promise<Told> | Told,
) {
  const releaser = openReleaser()
  try {
    const { stopWaiting, ...stores } = await openStores(service, { log, redactor }, releaser)
    const { redis, objects, metrics, ledger } = stores
    const needed = { redis: redisCheck(redis), object_store: objectStoreCheck(objects), ...service.needs }
    const shown = { ...service.shown?.(ledger), redis_user: redisUserCheck(redis, service.name) }
    const health = await openHealth(service.health, { readiness: openReadiness(needed, shown), metrics })
    releaser.add('health', health.close)
    const told = await begin({ ...stores, stopWaiting }, releaser)
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { ...told, healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

async function openStores(
  { name, origin, storage: { redisUrl, s3, events }, signer, traces: traced }: StoredService,
  { log, redactor }: ServiceDeps,
  releaser: Releaser,
) {
  const { redis, stopWaiting } = connectRedis(redisUrl, { retries: 20, answerMs: patientAnswerMs }, log)
  releaser.add('redis', async () => redis.disconnect())
  await expectUsableRedis(redis)
  const metrics = openMetrics(name)
  const permit = openPutPermit(redis)
  const objects = permittedPuts(loggedOutages(await openObjects(s3), log, metrics), permit)
  releaser.add('objects', async () => objects.close())
  const traces = traced ? await openTracing(traced, { service: name, instance: processName(), log }) : noTracing
  releaser.add('traces', traces.close)
  const archive = openEventSegments(objects, events)
  const ledger = openLedger(redis, { origin, archive, redactor, log, traces, signer })
  return { redis, stopWaiting, metrics, permit, objects, traces, ledger }
}
