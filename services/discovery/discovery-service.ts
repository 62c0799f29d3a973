import { adjustBundles } from '#bundles/adjust-bundles.ts'
import { announceFindable, type FindableNodes } from '#bundles/findable-nodes.ts'
import { loadBundles, type LoadedBundle } from '#bundles/load-bundle.ts'
import { unlessDeadly, untilStopped, type UntilStoppedDeps } from '#store/ledger/run-stage.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { awayModelsCheck } from '#store/ledger/read-runs.ts'
import { openFleet } from '#store/ledger/fleet.ts'
import { openRetention } from '#store/ledger/retention.ts'
import { redisNowMs } from '#store/ledger/store.ts'
import { openNotices } from '#store/ledger/notices.ts'
import { openStopSignals } from '#store/ledger/stop-signals.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { watchStore } from '#store/objects/logged-outages.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { openLinter } from '#languages/lint/linter.ts'
import type { Log } from '#platform/log.ts'
import type { Releaser, ServiceDeps } from '#platform/service-process.ts'
import { startService } from '#store/start-service.ts'
import { openConsumer } from '#store/queues/consumer.ts'
import { clearQueues, openProducer, type Producer } from '#store/queues/producer.ts'
import { readKnownExternals } from '#tool-scripts/external-signatures.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { type AppError, undefinedOn } from '#domain/error.ts'
import type { SpanRecorder } from '#domain/span.ts'
import { tracedStage } from '#platform/tracing/open-tracing.ts'
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

export function startDiscovery(config: DiscoveryConfig, deps: ServiceDeps): Promise<DiscoveryService> {
  const { log, placeOf } = deps
  const { storage, health, traces, leaveOut, setups } = config
  const choices = { ...config.bundles, ...(placeOf && { placeOf }) }
  const shown = (ledger: Ledger) => ({ models: awayModelsCheck(ledger) })
  const service = { name: 'discovery', origin, storage, health, traces, shown } as const
  return startService(service, deps, async ({ redis, permit, metrics, objects, ...opened }, releaser) => {
    const [packs, findable] = await Promise.all([loadSoundPacks(config.queries), findableNodes(config.queries)])
    releaser.add('announcement', announce(redis, findable, log))
    const bundles = adjustBundles(await checkedBundles(config.agentsDir, findable), choices, findable)
    const producer = openProducer({ redisUrl: storage.redisUrl, log })
    releaser.add('producer', () => producer.close())
    const readers = await openReaders(config, releaser)
    const ledger = measuredLedger(opened.ledger, metrics)
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
    const consuming = { ...stages, limits: defaultSnapshotLimits, metrics, traces: opened.traces }
    releaser.add('consumers', startConsumers(config, consuming, log))
    startLoops(config, { ...stages, redis, fleet: fleets, metrics, log }, releaser)
    startHousekeeping(config, { redis, ledger, objects, log }, releaser)
    return {}
  })
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

/** Starts the removal of data; what users deleted is removed also where housekeeping is off (`everyMs` is 0). */
function startHousekeeping(
  { housekeeping }: Pick<DiscoveryConfig, 'housekeeping'>,
  { redis, ...stores }: { redis: RedisClient; ledger: Ledger; objects: ObjectStore; log: Log },
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
