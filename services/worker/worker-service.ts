import type { SpanRecorder } from '#domain/span.ts'
import { askedModel } from '#domain/agent-bundle.ts'
import { defaultModel } from '#domain/model-health.ts'
import { operationsPerSlot, roomForNewRuns } from '#store/ledger/fleet.ts'
import { openLedger, type Ledger } from '#store/ledger/ledger.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { redisCheck, expectUsableRedis } from '#store/ledger/redis-check.ts'
import { openStopSignals, type StopSignals } from '#store/ledger/stop-signals.ts'
import { type Metrics, openMetrics } from '#platform/metrics/open-metrics.ts'
import type { ModelPool } from '#models/model-pool.ts'
import { openSharedPool } from '#models/shared-pool.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { loggedOutages } from '#store/objects/logged-outages.ts'
import { type ObjectStore, objectStoreCheck, permittedPuts, type PutPermit } from '#store/objects/object-store.ts'
import { openObjects } from '#store/objects/open-objects.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import { getBundle, getChangeSets } from '#store/objects/stored-records.ts'
import { connectRedis } from '#platform/redis-client.ts'
import { shrinkHeap } from '#platform/collect-garbage.ts'
import { openHealth } from '#platform/http-health.ts'
import { openPartCheck, openReadiness } from '#platform/readiness.ts'
import type { Log } from '#platform/log.ts'
import { openReleaser, type Releaser, type ServiceDeps } from '#platform/service-process.ts'
import { openConsumer } from '#store/queues/consumer.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { noTracing, openTracing, tracedStage } from '#platform/tracing/open-tracing.ts'
import { openProgramSearch } from '#sandbox/find-programs.ts'
import { openSandbox, type Sandbox } from '#sandbox/open-sandbox.ts'
import { codeFolders } from '#tool-scripts/limited-process.ts'
import { openScriptPool, type ScriptPool } from '#tool-scripts/script-pool.ts'
import { openPreparedBundles } from '#stages/operate/agent/prepared-bundle.ts'
import { tracedAttempts } from './attempt-spans.ts'
import type { CompositionDeps } from '#stages/compose/compose-run.ts'
import { type Composer, openComposer } from '#stages/compose/composer.ts'
import { parseConfig, type WorkerConfig } from './worker-config.ts'
import { openEvidenceChecker } from '#stages/operate/evidence/evidence-checker.ts'
import { openLinter, type Linter } from '#languages/lint/linter.ts'
import { openRunRules } from '#stages/operate/evidence/run-rules.ts'
import { openStoreGate, type StoreGate } from './store-gate.ts'
import { keepPresent, type ModelsInUse, openModelsInUse } from './worker-presence.ts'
import { openSyntaxChecker, type SyntaxChecker } from '#stages/operate/evidence/syntax-evidence.ts'
import { patientCommands } from '#stages/operate/attempt/patient-commands.ts'
import { openSnapshotArchives, storedFiles } from '#sandbox/snapshot-archives.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { openToolsBeside } from '#stages/operate/tools/programs/tools-beside.ts'
import { openEnvironments } from '#stages/operate/tools/programs/environments.ts'
import { runOperation, type OperationDeps } from '#stages/operate/run-operation.ts'
import { openSurroundings } from '#stages/operate/start/start-context.ts'
import { openStartLayers } from '#stages/operate/start/start-layer.ts'
import { baseLayerOf } from '#stages/operate/workspace/base-layer.ts'
import { type LineSearcher, openLineSearcher } from '#stages/operate/workspace/search-files.ts'
import { reportedAttempts } from './worker-metrics.ts'
import { redisUserCheck } from '#store/ledger/redis-users.ts'

export type WorkerService = {
  healthPort: number
  /** Takes no more work, lets operations finish within the drain time, aborts the rest, and closes all resources. */
  close(): Promise<void>
}

export const worker = { name: 'worker', refuses: 'keyFault', parseConfig, start: startWorker } as const

/** Starts a worker. It has no host credentials and no state of its own; any number of workers may run. */
async function startWorker(config: WorkerConfig, deps: ServiceDeps): Promise<WorkerService> {
  const { log, redactor, writeLog } = deps
  const releaser = openReleaser()
  try {
    const metrics = openMetrics('worker')
    const stores = await openStores(config, { metrics, log }, releaser)
    const { redis, permit, objects, checkStore, store, closing, stopWaiting } = stores
    await expectUsableRedis(redis)
    const { workerId, slots } = config
    const model = openSharedPool(config.model, { redis, holder: workerId, slots, metrics, log })
    releaser.add('model pool', () => model.close())
    const programs = await openPrograms(config, log, releaser)
    const readers = await openReaders(config, releaser)
    const { storage, environments, sandbox, leaseMs, logging } = config
    const traces = await openTracing(config.traces, { service: 'worker', instance: workerId, log })
    releaser.add('traces', traces.close)
    const origin = { kind: 'worker', id: workerId } as const
    const archive = openEventSegments(objects, storage.events)
    const patient = patientCommands(openLedger(redis, { leaseMs, origin, archive, redactor, log, traces }), closing)
    const share = config.traces.operations
    const traced = traces === noTracing ? patient : tracedAttempts(patient, { ...traces, share })
    const ledger = reportedAttempts(traced, { metrics, log })
    const stops = openStopSignals({ redisUrl: storage.redisUrl, log })
    releaser.add('stop signals', async () => stops.close())
    const models = openModelsInUse(model, config.model.name)
    const opened = { log, ledger, stops, objects, permit, model, models, store, ...programs, ...readers }
    const operation = await operationDeps(config, opened, releaser)
    const needed = { redis: redisCheck(redis), models: models.check, object_store: checkStore }
    const readiness = openReadiness(needed, { redis_user: redisUserCheck(redis, 'worker') })
    const health = await openHealth(config.health, { readiness, metrics })
    releaser.add('health', health.close)
    const composer = openComposer(
      { workerId, storage, environments, sandbox, secrets: redactor.given, logging },
      { ...operation, stops, log, traces, writeLog },
      { idleMs: config.composerIdleMs, ...(config.isSmall ? { beforeStart: shrinkHeap } : {}) },
    )
    releaser.add('composer', composer.close)
    const { setConcurrency: take, close } = startConsumers(config, { operation, composer, metrics, traces }, log)
    releaser.add('consumers', close)
    const installed = openProgramSearch(programs.sandbox, readers.linter.go)
    const self = { id: workerId, operations: mostOpenOperations(config), programs: installed }
    const presence = { ...self, take, redis, models, store, log }
    releaser.add('presence', await keepPresent(presence))
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

/** Attempts outlast any outage of Redis: until `stopWaiting` their commands wait, and the ledger decides whether they still count. */
async function openStores(
  { storage, slots }: WorkerConfig,
  { metrics, log }: { metrics: Metrics; log: Log },
  releaser: Releaser,
) {
  const { redis, stopWaiting } = connectRedis(storage.redisUrl, { retries: null }, log)
  releaser.add('redis', async () => redis.disconnect())
  const s3 = await openObjects({ ...storage.s3, maxSockets: Math.min(slots, 64) })
  const permit = openPutPermit(redis)
  const objects = permittedPuts(loggedOutages(s3, log, metrics), permit)
  releaser.add('objects', async () => objects.close())
  const closing = new AbortController()
  const stop = () => {
    closing.abort()
    stopWaiting()
  }
  const checkStore = openPartCheck(objectStoreCheck(objects))
  const store = openStoreGate(checkStore, log)
  return { redis, permit, objects, checkStore, store, closing: closing.signal, stopWaiting: stop }
}

async function openPrograms(config: WorkerConfig, log: Log, releaser: Releaser) {
  const sandbox = openSandbox(config.sandbox)
  const wrapper = await sandbox.wrapper(codeFolders)
  if (wrapper === undefined) log.warn('tool scripts run without bubblewrap', { sandbox: await sandbox.state() })
  const scripts = openScriptPool({ size: config.scriptProcesses, log, wrapper })
  releaser.add('script processes', () => scripts.close())
  return { scripts, sandbox }
}

async function openReaders({ sandbox }: WorkerConfig, releaser: Releaser) {
  const linter = await openLinter(sandbox)
  releaser.add('linter', linter.close)
  const syntax = openSyntaxChecker()
  releaser.add('parser', syntax.close)
  const searcher = openLineSearcher()
  releaser.add('search', searcher.close)
  return { linter, syntax, searcher }
}

type Opened = {
  log: Log
  ledger: Ledger
  stops: StopSignals
  objects: ObjectStore
  permit: PutPermit
  model: ModelPool
  models: ModelsInUse
  store: Pick<StoreGate, 'waits'>
  scripts: ScriptPool
  sandbox: Pick<Sandbox, 'run' | 'state'>
  linter: Linter
  syntax: SyntaxChecker
  searcher: LineSearcher
}

type WorkDeps = OperationDeps & CompositionDeps

async function operationDeps(config: WorkerConfig, opened: Opened, releaser: Releaser): Promise<WorkDeps> {
  const { objects, model, models, linter, syntax, log } = opened
  const { name, temperature, toolChoice } = config.model
  const warn = (error: unknown) => log.warn('no model server answers yet', { error }) // operations wait until one does
  if (name === undefined) await model.describe().catch(warn)
  else void model.probe(name, new AbortController().signal) // so that missing features of the servers are logged before the first operation
  const { cachedLength } = config
  const python = await loadLanguage('python', { cachedLength })
  const blobs = openBlobStore(objects, { maxCacheBytes: config.blobCacheBytes, permit: opened.permit })
  const readSnapshot = openSnapshotReader(objects)
  const archives = openSnapshotArchives(storedFiles(readSnapshot, blobs))
  releaser.add('archives of snapshots', archives.close)
  const beside = openToolsBeside({ afterMs: config.sandbox.deferAfterMs })
  releaser.add('tools that take long', beside.close)
  return {
    ...opened,
    beside,
    blobs,
    readSets: (project, hash) => getChangeSets(objects, project, hash),
    ...openSurroundings(opened),
    startLayer: openStartLayers(opened),
    python,
    evidence: openEvidenceChecker({ linter, python, syntax, cachedLength }),
    syntax,
    runRules: openRunRules({ objects, blobs, linter }),
    bundles: openPreparedBundles((project, hash) => getBundle(objects, project, hash), config.model),
    programs: {
      sandbox: opened.sandbox,
      limits: config.sandbox.limits,
      gateLimitS: config.sandbox.gateLimitS,
      snapshot: readSnapshot,
      archive: archives.open,
      environment: openEnvironments({ ...config.environments, objects }),
    },
    baseLayer: async (project, snapshotId) => baseLayerOf(await readSnapshot(project, snapshotId), blobs, project),
    async modelSettings(requested, signal) {
      const wanted = askedModel(requested)
      models.uses(wanted)
      const own = async () => name ?? (await model.firstModel(signal))
      return { model: wanted === defaultModel ? await own() : wanted, temperature, toolChoice }
    },
    versions: { linter: linter.version, node: process.version },
    workerId: config.workerId,
    handBackMs: 1_000,
    noteStoreWait: opened.store.waits,
  }
}

function mostOpenOperations({ slots }: WorkerConfig): number {
  return slots * operationsPerSlot + roomForNewRuns(slots)
}

/** Limits how long a composition stands still when its worker is killed: to this, and half as long again. */
const mostCompositionLockMs = 10_000

type Working = { operation: OperationDeps; composer: Composer; metrics: Metrics; traces: SpanRecorder }

function startConsumers(config: WorkerConfig, { operation, composer, metrics, traces }: Working, log: Log) {
  const { redisUrl } = config.storage
  metrics.gauge('remora_worker_slots', () => [{ labels: {}, value: config.slots }])
  const operations = openConsumer({
    redisUrl,
    queue: 'operations',
    concurrency: mostOpenOperations(config),
    lockMs: config.leaseMs,
    lostLock: 'go_on',
    log,
    handler: ({ run_id: runId, operation_id: operationId, dispatch }, signal) =>
      runOperation({ runId, operationId, dispatch }, operation, signal),
  })
  const compositions = openConsumer({
    redisUrl,
    queue: 'compositions',
    concurrency: 1,
    lockMs: Math.min(mostCompositionLockMs, config.leaseMs),
    log,
    handler: ({ run_id: runId, traceparent }, signal, stalls) =>
      tracedStage({ name: 'compose', traceparent }, traces, () => composer.compose({ runId, stalls }, signal)),
  })
  const patches = openConsumer({
    redisUrl,
    queue: 'patches',
    concurrency: 1,
    lockMs: Math.min(mostCompositionLockMs, config.leaseMs),
    log,
    handler: ({ run_id: runId, of, part, traceparent }, signal) =>
      tracedStage({ name: 'compose patch', traceparent }, traces, () =>
        composer.composePatch({ runId, patch: { of, part } }, signal),
      ),
  })
  const graceMs = config.drainMs
  const consumers = [operations, compositions, patches]
  return {
    setConcurrency: operations.setConcurrency,
    close: async () => void (await Promise.all(consumers.map((consumer) => consumer.close({ graceMs })))),
  }
}
