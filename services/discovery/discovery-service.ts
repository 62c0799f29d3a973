import { adjustBundles } from '#bundles/adjust-bundles.ts'
import { announceFindable, type FindableNodes } from '#bundles/findable-nodes.ts'
import { loadBundles, type LoadedBundle } from '#bundles/load-bundle.ts'
import { unlessDeadly, untilStopped, type UntilStoppedDeps } from '#store/ledger/run-stage.ts'
import { type Ledger, openLedger } from '#store/ledger/ledger.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { awayModelsCheck } from '#store/ledger/read-runs.ts'
import { redisCheck, expectUsableRedis } from '#store/ledger/redis-check.ts'
import { openFleet } from '#store/ledger/fleet.ts'
import { openRetention } from '#store/ledger/retention.ts'
import { redisNowMs } from '#store/ledger/store.ts'
import { openNotices } from '#store/ledger/notices.ts'
import { openStopSignals } from '#store/ledger/stop-signals.ts'
import { type Metrics, openMetrics } from '#platform/metrics/open-metrics.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { loggedOutages, watchStore } from '#store/objects/logged-outages.ts'
import { type ObjectStore, objectStoreCheck, permittedPuts } from '#store/objects/object-store.ts'
import { openObjects } from '#store/objects/open-objects.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import { openReadiness } from '#platform/readiness.ts'
import { connectRedis, patientAnswerMs, type RedisClient } from '#platform/redis-client.ts'
import { openHealth } from '#platform/http-health.ts'
import { openLinter } from '#languages/lint/linter.ts'
import { type Log, processName } from '#platform/log.ts'
import { openReleaser, type Releaser, type ServiceDeps } from '#platform/service-process.ts'
import { openConsumer } from '#store/queues/consumer.ts'
import { clearQueues, openProducer, type Producer } from '#store/queues/producer.ts'
import { readKnownExternals } from '#tool-scripts/external-signatures.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { type AppError, undefinedOn } from '#domain/error.ts'
import type { SpanRecorder } from '#domain/span.ts'
import { openTracing, tracedStage } from '#platform/tracing/open-tracing.ts'
import { runArchiver } from './housekeeping/archive-events.ts'
import { bundlePinner, pinnedBundleReader } from '#stages/plan/pin-bundles.ts'
import { parseConfig, type DiscoveryConfig } from './discovery-config.ts'
import { measuredLedger, measuredStage, showRuns } from './discovery-metrics.ts'
import { openCodeHostClient } from '#stages/snapshot/fetch/code-host-client.ts'
import { openFetchPauses } from '#stages/snapshot/fetch/fetch-pauses.ts'
import { openParsePool } from '#stages/discover/parse-pool.ts'
import { findableNodes, loadSoundPacks } from './load-sound-packs.ts'
import { type AwayModelsDeps, openAwayModels } from '#stages/dispatch/away-models.ts'
import { runRejectedRetries } from '#stages/review/retry-rejected.ts'
import { runDispatcher } from '#stages/dispatch/run-dispatcher.ts'
import { openProjectBudgets } from '#stages/dispatch/project-budgets.ts'
import { openStageJobs } from '#stages/dispatch/stage-jobs.ts'
import { runDeletions } from './housekeeping/delete-runs.ts'
import { runHousekeeping } from './housekeeping/run-housekeeping.ts'
import { runTeller } from './housekeeping/tell-events.ts'
import { defaultSnapshotLimits } from '#stages/snapshot/snapshot-limits.ts'
import { type DiscoveryStageDeps, failDiscovery, runDiscoveryStage } from './discovery-stage.ts'
import { runSnapshotStage, type SnapshotStageDeps } from './snapshot-stage.ts'
import { openSurveyPool } from '#stages/plan/survey/survey-pool.ts'
import { redisUserCheck } from '#store/ledger/redis-users.ts'

export type DiscoveryService = { healthPort: number; close(): Promise<void> }

/** Loads the bundles as `remora check` does: an unknown external, node kind or language starts no run. */
async function checkedBundles(dir: string | undefined, findable: FindableNodes): Promise<Map<string, LoadedBundle>> {
  const typeChecker = openTypeChecker()
  try {
    return await loadBundles(dir, { knownExternals: await readKnownExternals(), typeChecker, ...findable })
  } finally {
    await typeChecker.close()
  }
}

export const discovery = { name: 'discovery', parseConfig, start: startDiscovery } as const

export async function startDiscovery(config: DiscoveryConfig, deps: ServiceDeps): Promise<DiscoveryService> {
  const { log, redactor, placeOf } = deps
  const { storage, leaveOut, setups } = config
  const choices = { ...config.bundles, ...(placeOf && { placeOf }) }
  const releaser = openReleaser()
  try {
    const [packs, findable] = await Promise.all([loadSoundPacks(config.queries), findableNodes(config.queries)])
    const { redis, stopWaiting } = connectRedis(storage.redisUrl, { retries: 20, answerMs: patientAnswerMs }, log)
    releaser.add('redis', async () => redis.disconnect())
    await expectUsableRedis(redis)
    releaser.add('announcement', announce(redis, findable, log))
    const bundles = adjustBundles(await checkedBundles(config.agentsDir, findable), choices, findable)
    const permit = openPutPermit(redis)
    const metrics = openMetrics('discovery')
    const objects = permittedPuts(loggedOutages(await openObjects(storage.s3), log, metrics), permit)
    releaser.add('objects', async () => objects.close())
    const producer = openProducer({ redisUrl: storage.redisUrl, log })
    releaser.add('producer', () => producer.close())
    const readers = await openReaders(config, releaser)
    const traces = await openTracing(config.traces, { service: 'discovery', instance: processName(), log })
    releaser.add('traces', traces.close)
    const archive = openEventSegments(objects, storage.events)
    const ledger = measuredLedger(openLedger(redis, { origin, archive, redactor, log, traces }), metrics)
    const stops = openStopSignals({ redisUrl: storage.redisUrl, log })
    releaser.add('stop signals', async () => stops.close())
    const blobs = openBlobStore(objects, { maxCacheBytes: config.blobCacheBytes, permit })
    const fleets = openFleet(redis)
    const shared = { ledger, stops, objects, blobs, producer, packs, leaveOut, setups, fleet: fleets.read }
    const stages = {
      ...readers,
      ...shared,
      readSnapshot: openSnapshotReader(objects),
      pinBundles: bundlePinner(bundles, objects),
      readBundles: pinnedBundleReader(objects),
    }
    if (config.isAlone) await takeOver(redis, ledger)
    const health = await openHealth(config.health, { readiness: readinessOf({ redis, objects, ledger }), metrics })
    releaser.add('health', health.close)
    const consuming = { ...stages, limits: defaultSnapshotLimits, metrics, traces }
    releaser.add('consumers', startConsumers(config, consuming, log))
    startLoops(config, { ...stages, redis, fleet: fleets, metrics, log }, releaser)
    startHousekeeping(config, { redis, ledger, objects, log }, releaser)
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

function readinessOf({ redis, objects, ledger }: { redis: RedisClient; objects: ObjectStore; ledger: Ledger }) {
  const needed = { redis: redisCheck(redis), object_store: objectStoreCheck(objects) }
  return openReadiness(needed, { models: awayModelsCheck(ledger), redis_user: redisUserCheck(redis, 'discovery') })
}

type LoopStores = { ledger: Ledger; producer: Producer; redis: RedisClient; fleet: ReturnType<typeof openFleet> }
type LoopDeps = LoopStores & { metrics: Metrics; log: Log } & Pick<AwayModelsDeps, 'readBundles'>

function startLoops(
  { modelKind, awayLimitMs, told, storage }: DiscoveryConfig,
  deps: LoopDeps,
  releaser: Releaser,
): void {
  const { ledger, producer, redis, fleet, metrics, log } = deps
  const dispatcher = runDispatcher({
    ledger,
    producer,
    stageJobs: openStageJobs(producer),
    fleet: fleet.read,
    awayModels: openAwayModels({ ...deps, wantModels: fleet.want, awayLimitMs }),
    budgets: openProjectBudgets({ ledger, now: () => redisNowMs(redis), log }),
    onRound: showRuns(metrics, { ledger, producer, redis, readFleet: fleet.read }),
    modelKind,
    log,
  })
  releaser.add('dispatcher', dispatcher)
  releaser.add('retries of rejected changes', runRejectedRetries({ ledger, modelKind, log }))
  releaser.add('archiver', runArchiver({ ledger, log }))
  const notices = openNotices({ redisUrl: storage.redisUrl, log })
  releaser.add('notices', async () => notices.close())
  releaser.add('teller', runTeller({ ledger, retention: openRetention(redis), notices, told, log }))
}

type HousekeepingStores = { redis: RedisClient; ledger: Ledger; objects: ObjectStore; log: Log }

/** Starts the removal of data; what users deleted is removed also where housekeeping is off (`everyMs` is 0). */
function startHousekeeping(
  { housekeeping }: Pick<DiscoveryConfig, 'housekeeping'>,
  { redis, ...stores }: HousekeepingStores,
  releaser: Releaser,
): void {
  const { everyMs, ...times } = housekeeping
  const retention = openRetention(redis)
  const deps = { ...stores, retention, ...times }
  releaser.add('watch of the object store', watchStore(stores.objects))
  releaser.add('deletions', runDeletions(deps))
  if (everyMs > 0) releaser.add('housekeeping', runHousekeeping(deps, everyMs))
}

/** Announced before the bundles are checked, so that the API refuses at submission what discovery refuses here. */
function announce(redis: RedisClient, findable: FindableNodes, log: Log): () => Promise<void> {
  const announced = announceFindable(redis, findable).catch((error: unknown) =>
    log.warn('what the query packs find was not announced', { error: String(error) }),
  )
  return () => announced
}

async function openReaders({ threads, searchPath }: DiscoveryConfig, releaser: Releaser) {
  const pool = openParsePool({ threads })
  releaser.add('parse threads', () => pool.close())
  const surveys = openSurveyPool({ threads })
  releaser.add('survey threads', surveys.close)
  const linter = await openLinter({ searchPath, processes: surveys.threads })
  releaser.add('linter', linter.close)
  return { pool, surveys, linter }
}

const graceMs = 10_000
const origin = { kind: 'discovery', id: 'discovery' } as const

type StageDeps = Omit<SnapshotStageDeps, 'codeHost' | 'pauses' | 'maxUploadBytes'> &
  DiscoveryStageDeps &
  UntilStoppedDeps

function startConsumers(
  { storage: { redisUrl }, lockMs, maxUploadBytes, ...config }: DiscoveryConfig,
  { metrics, traces, ...rest }: StageDeps & { metrics: Metrics; traces: SpanRecorder },
  log: Log,
): () => Promise<void> {
  const codeHost = openCodeHostClient(config.codeHost)
  const deps = { ...rest, codeHost, pauses: openFetchPauses(), maxUploadBytes }
  const stages = [
    { queue: 'snapshots', concurrency: 2, phases: ['snapshot'], run: runSnapshotStage, fail: undefined },
    {
      queue: 'discoveries',
      concurrency: 1,
      phases: ['discovery', 'planning'],
      run: runDiscoveryStage,
      fail: failDiscovery,
    },
  ] as const
  const consumers = stages.map(({ queue, concurrency, phases, run, fail }) =>
    openConsumer({
      redisUrl,
      queue,
      concurrency,
      lockMs,
      log,
      handler: async ({ run_id: runId, traceparent }, signal, stalls) => {
        const failing = fail && {
          fail: async (fault: AppError) => fail(await deps.ledger.getRun(runId), fault, deps.ledger, signal),
        }
        await unlessDeadly(runId, { phases, origin, signal, stalls, ...failing }, deps.ledger, () =>
          tracedStage({ name: phases[0], traceparent }, traces, () =>
            measuredStage(queue, metrics, () => untilStopped(runId, (own) => run(runId, deps, own), deps, signal)),
          ),
        )
      },
    }),
  )
  return async () => {
    await Promise.all(consumers.map((consumer) => consumer.close({ graceMs })))
    await codeHost.close()
  }
}

/** Clears up for the first process of a stack with stores of its own: no worker is alive whose leases and locks must expire. */
export async function takeOver(redis: RedisClient, ledger: Pick<Ledger, 'activeRuns' | 'sweep'>): Promise<void> {
  await clearQueues(redis)
  for (const { runId } of await ledger.activeRuns()) {
    // A run of a newer version, or whose acceptance was interrupted, is left to the dispatcher, which logs it.
    const sweep = () => ledger.sweep(runId, 'abandoned').catch(undefinedOn('RUN_001', 'RUN_005'))
    while (((await sweep())?.left ?? 0) > 0);
  }
}
