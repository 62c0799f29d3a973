import type { BundleFile } from '#domain/agent-bundle.ts'
import { unlessDeadly, untilStopped } from '#ledger/run-stage.ts'
import { openLedger, type Ledger } from '#ledger/ledger.ts'
import { openPutPermit } from '#ledger/collection-window.ts'
import { openStopSignals, type StopSignals } from '#ledger/stop-signals.ts'
import { announceEveryMs, announceSlots, withdrawSlots } from '#ledger/worker-slots.ts'
import { openModelPool, type ModelPool } from '#models/model-pool.ts'
import { openSharedSlots } from '#models/pool/slots/shared-slots.ts'
import { openSharedFindings } from '#models/capabilities/findings-store.ts'
import { openBlobStore } from '#objects/blob-store.ts'
import { loggedOutages, type ObjectStore, permittedPuts, type PutPermit } from '#objects/object-store.ts'
import { openS3ObjectStore } from '#objects/s3-object-store.ts'
import { openSnapshotReader } from '#objects/snapshot.ts'
import { getBundle } from '#objects/stored-records.ts'
import { connectRedis, type RedisClient } from '#platform/redis-client.ts'
import { openHealth } from '#platform/http-health.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openConsumer } from '#queues/consumer.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { openScriptPool, type ScriptPool } from '#tool-scripts/script-pool.ts'
import { openPreparedBundles } from './agent/prepared-bundle.ts'
import { composeRun, type CompositionDeps } from './composition/compose-run.ts'
import type { WorkerConfig } from './worker-config.ts'
import { openEvidenceChecker } from './evidence/evidence-checker.ts'
import { openPythonLinter, type PythonLinter } from '#lint/python-linter.ts'
import { openRunRules } from './evidence/run-rules.ts'
import { openSyntaxChecker, type SyntaxChecker } from './evidence/syntax-evidence.ts'
import { runOperation, type OperationDeps } from './operation/run-operation.ts'
import { openSurroundings } from './operation/start/start-context.ts'
import { baseLayerOf } from './workspace/base-layer.ts'

export type WorkerService = {
  healthPort: number
  /** Takes no more work, lets operations finish within the drain time, aborts the rest, and closes all resources. */
  close(): Promise<void>
}

/** Starts a worker. It has no host credentials and no state of its own; any number of workers may run. */
export async function startWorker(config: WorkerConfig, { log }: { log: Log }): Promise<WorkerService> {
  const { redisUrl, s3 } = config.storage
  const releaser = openReleaser()
  try {
    // Attempts outlast any outage of Redis: their commands wait, and the ledger decides whether they still count.
    const { redis, stopWaiting } = connectRedis(redisUrl, { retries: null }, log)
    releaser.add('redis', async () => redis.disconnect())
    const store = loggedOutages(openS3ObjectStore({ ...s3, maxSockets: Math.min(config.slots, 64) }), log)
    const permit = openPutPermit(redis)
    const objects = permittedPuts(store, permit)
    releaser.add('objects', async () => objects.close())
    const model = openPool(config, redis, log)
    releaser.add('model pool', () => model.close())
    const scripts = openScriptPool({ size: config.scriptProcesses, log })
    releaser.add('script processes', () => scripts.close())
    const linter = await openPythonLinter()
    releaser.add('linter', linter.close)
    const syntax = openSyntaxChecker()
    releaser.add('parser', syntax.close)
    const ledger = openLedger(redis, { leaseMs: config.leaseMs, origin: { kind: 'worker', id: config.workerId } })
    const stops = openStopSignals({ redisUrl, log })
    releaser.add('stop signals', async () => stops.close())
    const operation = await operationDeps(config, {
      log,
      ledger,
      stops,
      objects,
      permit,
      model,
      scripts,
      linter,
      syntax,
    })
    const health = await openHealth(config.healthPort, { redis: () => redis.ping(), objects: () => objects.ping() })
    releaser.add('health', health.close)
    releaser.add('consumers', startConsumers(config, operation, log))
    releaser.add('slots', await keepAnnounced(redis, config))
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

function openPool(config: WorkerConfig, redis: RedisClient, log: Log): ModelPool {
  const { servers, apiKey, timeoutMs, retryBudgetMs, hedgeAfterMs, stream, proxy } = config.model
  return openModelPool({
    endpoints: servers.map((server) => ({ ...server, apiKey })),
    slots: openSharedSlots({ redis, holder: config.workerId, log }),
    findings: openSharedFindings({ redis }),
    requestTimeoutMs: timeoutMs,
    retryBudgetMs,
    hedgeAfterMs,
    maxInFlight: config.slots,
    stream,
    proxy,
    log,
  })
}

type Opened = {
  log: Log
  ledger: Ledger
  stops: StopSignals
  objects: ObjectStore
  permit: PutPermit
  model: ModelPool
  scripts: ScriptPool
  linter: PythonLinter
  syntax: SyntaxChecker
}

async function operationDeps(config: WorkerConfig, opened: Opened): Promise<OperationDeps & CompositionDeps> {
  const { objects, model, linter, syntax } = opened
  const { name, temperature, toolChoice } = config.model
  if (name === undefined) await warnWithoutModel(opened)
  else void model.probe(name, new AbortController().signal) // so that missing features of the servers are logged before the first operation
  const python = await loadLanguage('python')
  const blobs = openBlobStore(objects, { maxCacheBytes: config.blobCacheBytes, permit: opened.permit })
  const readSnapshot = openSnapshotReader(objects)
  return {
    ...opened,
    ...openSurroundings(opened),
    blobs,
    python,
    evidence: openEvidenceChecker({ linter, python, syntax }),
    runRules: openRunRules(objects),
    bundles: openPreparedBundles((project, hash) => getBundle(objects, project, hash), config.model),
    baseLayer: async (project, snapshotId) => baseLayerOf(await readSnapshot(project, snapshotId), blobs, project),
    modelSettings: async (asked, signal) => ({
      model: askedModel(asked) ?? name ?? (await model.firstModel(signal)),
      temperature,
      toolChoice,
    }),
    versions: { linter: linter.version, node: process.version },
    workerId: config.workerId,
    storeBackOffMs: 1_000,
  }
}

/** The adapter or model that a bundle names; undefined for the default model. */
function askedModel({ name, adapter }: BundleFile['model']): string | undefined {
  if (adapter !== '') return adapter
  return name === 'default' ? undefined : name
}

/** Only warns the operator: a server may answer later. Operations that find none fail with AGENT_002. */
async function warnWithoutModel({ model, log }: Opened): Promise<void> {
  await model.describe().catch((error: unknown) => log.warn('no model server answers yet', { error }))
}

/**
 * How many operations are open for each request to the model: while some are prepared or proved, others keep the model busy.
 * Compared with a bare loop, the model was busy 0.78 of the time with one, and 0.96 with three (bench/utilisation-bench.ts,
 * 256 slots).
 */
const operationsPerSlot = 3

/** A composition computes longer than an operation before it can renew its lock. */
const leastCompositionLockMs = 10_000

function startConsumers(config: WorkerConfig, deps: OperationDeps & CompositionDeps, log: Log): () => Promise<void> {
  const { redisUrl } = config.storage
  const origin = { kind: 'worker', id: config.workerId } as const
  const operations = openConsumer({
    redisUrl,
    queue: 'operations',
    concurrency: config.slots * operationsPerSlot,
    lockMs: config.leaseMs,
    lostLock: 'go_on',
    log,
    handler: ({ run_id: runId, operation_id: operationId, dispatch }, signal) =>
      runOperation({ runId, operationId, dispatch }, deps, signal),
  })
  const compositions = openConsumer({
    redisUrl,
    queue: 'compositions',
    concurrency: 1,
    lockMs: Math.max(leastCompositionLockMs, config.leaseMs),
    log,
    handler: ({ run_id: runId }, signal, stalls) =>
      unlessDeadly(runId, { phases: ['review'], origin, signal, stalls }, deps.ledger, () =>
        untilStopped(runId, (own) => composeRun(runId, deps, own), deps, signal),
      ),
  })
  const graceMs = config.drainMs
  return async () => void (await Promise.all([operations.close({ graceMs }), compositions.close({ graceMs })]))
}

async function keepAnnounced(redis: RedisClient, config: WorkerConfig): Promise<() => Promise<void>> {
  const worker = { id: config.workerId, slots: config.slots * operationsPerSlot }
  await announceSlots(redis, worker)
  const stop = repeatEvery(announceEveryMs, () => announceSlots(redis, worker))
  return async () => {
    await stop()
    await withdrawSlots(redis, worker)
  }
}
