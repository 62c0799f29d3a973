import { adjustBundles } from '#bundles/adjust-bundles.ts'
import { loadBundles, type LoadedBundle } from '#bundles/load-bundle.ts'
import { unlessDeadly } from '#ledger/unless-deadly.ts'
import { openLedger } from '#ledger/ledger.ts'
import { openPutPermit } from '#ledger/put-permit.ts'
import { openRetention } from '#ledger/retention.ts'
import { openStopSignals } from '#ledger/stop-signals.ts'
import { untilStopped, type UntilStoppedDeps } from '#ledger/until-stopped.ts'
import { liveSlots } from '#ledger/worker-slots.ts'
import { openBlobStore } from '#objects/blob-store.ts'
import { openEventSegments } from '#objects/event-segments.ts'
import { permittedPuts } from '#objects/permitted-puts.ts'
import { openS3ObjectStore } from '#objects/s3-object-store.ts'
import { openSnapshotReader } from '#objects/snapshot-view.ts'
import { connectRedis } from '#platform/connect-redis.ts'
import { openHealth } from '#platform/http-health.ts'
import { openPythonLinter, type PythonLinter } from '#lint/python-linter.ts'
import type { Log } from '#platform/log.ts'
import { openReleaser, type Releaser } from '#platform/shutdown.ts'
import { openConsumer } from '#queues/consumer.ts'
import { openProducer } from '#queues/producer.ts'
import { hostExternals } from '#tool-scripts/host-externals.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { runArchiver } from './archiving/run-archiver.ts'
import { bundlePinner, pinnedBundleReader } from './pin-bundles.ts'
import type { DiscoveryConfig } from './config.ts'
import { openParsePool } from './discover/parse-pool.ts'
import { loadSoundPacks } from './load-sound-packs.ts'
import { runDispatcher } from './dispatch/run-dispatcher.ts'
import { openStageJobs } from './dispatch/stage-jobs.ts'
import { runHousekeeping } from './housekeeping/run-housekeeping.ts'
import { defaultSnapshotLimits } from './snapshot/snapshot-limits.ts'
import { runDiscoveryStage, type DiscoveryStageDeps } from './stages/discovery-stage.ts'
import { runSnapshotStage, type SnapshotStageDeps } from './stages/snapshot-stage.ts'
import { openSurveyPool } from './survey/survey-pool.ts'
import { takeOver } from './take-over.ts'

export type DiscoveryService = { healthPort: number; close(): Promise<void> }

/** With all that `remora check` looks at: a script that calls what the host does not offer starts no run. */
async function checkedBundles(dir: string): Promise<Map<string, LoadedBundle>> {
  const typeChecker = openTypeChecker()
  try {
    return await loadBundles(dir, { knownExternals: await hostExternals(), typeChecker })
  } finally {
    await typeChecker.close()
  }
}

/** Starts discovery: snapshots, code nodes, plans, and the dispatcher that feeds the workers. */
export async function startDiscovery(config: DiscoveryConfig, { log }: { log: Log }): Promise<DiscoveryService> {
  const { redisUrl, s3 } = config.storage
  const releaser = openReleaser()
  try {
    const [loaded, packs] = await Promise.all([checkedBundles(config.agentsDir), loadSoundPacks(config.queries)])
    const bundles = adjustBundles(loaded, config.bundles)
    const { redis, stopWaiting } = connectRedis(redisUrl, { retries: 20 }, log)
    releaser.add('redis', async () => redis.disconnect())
    const objects = permittedPuts(openS3ObjectStore(s3), openPutPermit(redis))
    releaser.add('objects', async () => objects.close())
    const producer = openProducer({ redisUrl, log })
    releaser.add('producer', () => producer.close())
    const readers = openReaders(config, releaser)
    const archive = openEventSegments(objects)
    const ledger = openLedger(redis, { origin: { kind: 'discovery', id: 'discovery' }, archive })
    const stops = openStopSignals({ redisUrl, log })
    releaser.add('stop signals', async () => stops.close())
    const blobs = openBlobStore(objects, { maxCacheBytes: config.blobCacheBytes })
    const { leaveOut } = config
    const limits = defaultSnapshotLimits
    const shared = { ledger, stops, objects, blobs, producer, packs, leaveOut, limits }
    const stages = {
      ...readers,
      ...shared,
      readSnapshot: openSnapshotReader(objects),
      pinBundles: bundlePinner(bundles, objects),
      readBundles: pinnedBundleReader(objects),
    }
    if (config.isAlone) await takeOver(redis, ledger)
    const health = await openHealth(config.healthPort, { redis: () => redis.ping(), objects: () => objects.ping() })
    releaser.add('health', health.close)
    releaser.add('consumers', startConsumers(config, stages, log))
    const stageJobs = openStageJobs(producer)
    const { modelKind } = config
    const dispatch = { ledger, producer, stageJobs, liveSlots: () => liveSlots(redis), modelKind, log }
    releaser.add('dispatcher', runDispatcher(dispatch))
    releaser.add('archiver', runArchiver({ ledger, log }))
    const { everyMs, ...rest } = config.housekeeping
    const housekeeping = { ledger, objects, retention: openRetention(redis), ...rest, log }
    if (everyMs > 0) releaser.add('housekeeping', runHousekeeping(housekeeping, everyMs))
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

/** What reads source: the parsing threads, the surveying threads, and the linter that judges configurations. */
function openReaders({ threads }: DiscoveryConfig, releaser: Releaser) {
  const pool = openParsePool({ threads })
  releaser.add('parse threads', () => pool.close())
  const surveys = openSurveyPool({ threads })
  releaser.add('survey threads', surveys.close)
  const linter = openLinterWhenNeeded()
  releaser.add('linter', linter.close)
  return { pool, surveys, linter }
}

/** Ruff judges the options of a repository's configuration; a service that meets none starts no thread for it. */
function openLinterWhenNeeded(): Pick<PythonLinter, 'lint' | 'refusalOf' | 'close'> {
  let opened: Promise<PythonLinter> | undefined
  return {
    lint: async (text, rules) => (await (opened ??= openPythonLinter())).lint(text, rules),
    refusalOf: async (options) => (await (opened ??= openPythonLinter())).refusalOf(options),
    close: async () => (await opened)?.close(),
  }
}

/** A stage that is cut off is safe to run again: what is left of the grace goes to the one under way. */
const graceMs = 10_000
const origin = { kind: 'discovery', id: 'discovery' } as const

function startConsumers(
  { storage: { redisUrl }, lockMs }: DiscoveryConfig,
  deps: SnapshotStageDeps & DiscoveryStageDeps & UntilStoppedDeps,
  log: Log,
): () => Promise<void> {
  const snapshots = openConsumer({
    redisUrl,
    queue: 'snapshots',
    concurrency: 2,
    lockMs,
    log,
    handler: ({ run_id: runId }, signal, stalls) =>
      unlessDeadly(runId, { phases: ['snapshot'], origin, signal, stalls }, deps.ledger, () =>
        untilStopped(runId, (own) => runSnapshotStage(runId, deps, own), deps, signal),
      ),
  })
  const discoveries = openConsumer({
    redisUrl,
    queue: 'discoveries',
    concurrency: 1,
    lockMs,
    log,
    handler: ({ run_id: runId }, signal, stalls) =>
      unlessDeadly(runId, { phases: ['discovery', 'planning'], origin, signal, stalls }, deps.ledger, () =>
        untilStopped(runId, (own) => runDiscoveryStage(runId, deps, own), deps, signal),
      ),
  })
  return async () => void (await Promise.all([snapshots.close({ graceMs }), discoveries.close({ graceMs })]))
}
