import type { BundleFile } from '#domain/agent-bundle.ts'
import { unlessDeadly } from '#ledger/unless-deadly.ts'
import { openLedger, type Ledger } from '#ledger/ledger.ts'
import { openPutPermit } from '#ledger/put-permit.ts'
import { openStopSignals, type StopSignals } from '#ledger/stop-signals.ts'
import { untilStopped } from '#ledger/until-stopped.ts'
import { announceEveryMs, announceSlots, withdrawSlots } from '#ledger/worker-slots.ts'
import { openModelPool, type ModelPool } from '#models/model-pool.ts'
import { openSharedPlaces } from '#models/pool/places/shared-places.ts'
import { openSharedFindings } from '#models/servers/shared-findings.ts'
import { openBlobStore } from '#objects/blob-store.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { permittedPuts } from '#objects/permitted-puts.ts'
import { openS3ObjectStore } from '#objects/s3-object-store.ts'
import { openSnapshotReader } from '#objects/snapshot-view.ts'
import { getBundle } from '#objects/stored-records.ts'
import { connectRedis, type RedisClient } from '#platform/connect-redis.ts'
import { openHealth } from '#platform/http-health.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { openReleaser } from '#platform/shutdown.ts'
import { openConsumer } from '#queues/consumer.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { openScriptPool, type ScriptPool } from '#tool-scripts/script-pool.ts'
import { openPreparedBundles } from './agent/prepared-bundle.ts'
import { composeRun, type CompositionDeps } from './composition/compose-run.ts'
import type { WorkerConfig } from './config.ts'
import { openEvidenceChecker } from './evidence/evidence-checker.ts'
import { openPythonLinter, type PythonLinter } from '#lint/python-linter.ts'
import { openRunRules } from './evidence/run-rules.ts'
import { openSyntaxChecker, type SyntaxChecker } from './evidence/syntax-checker.ts'
import { runOperation, type OperationDeps } from './operation/run-operation.ts'
import { openSurroundings } from './operation/start/surroundings.ts'
import { baseLayerOf } from './workspace/base-layer.ts'

export type WorkerService = {
  healthPort: number
  /** Takes no more work, lets operations finish for the drain time, aborts the rest, closes what it opened. */
  close(): Promise<void>
}

/** Starts a worker: no host credentials, no state of its own; any number may run beside each other. */
export async function startWorker(config: WorkerConfig, deps: { log: Log }): Promise<WorkerService> {
  const { log } = deps
  const { redisUrl, s3 } = config.storage
  const releaser = openReleaser()
  try {
    // Attempts sit out any outage of Redis: what they have to say waits, and the ledger knows whether it still counts.
    const { redis, stopWaiting } = connectRedis(redisUrl, { retries: null }, log)
    releaser.add('redis', async () => redis.disconnect())
    const store = openS3ObjectStore({ ...s3, maxSockets: Math.min(config.slots, 64) })
    const objects = permittedPuts(store, openPutPermit(redis))
    releaser.add('objects', async () => objects.close())
    const model = openPool(config, redis, log)
    releaser.add('model pool', () => model.close())
    const scripts = openScriptPool({ size: config.scriptProcesses, log })
    releaser.add('script processes', () => scripts.close())
    const linter = await openPythonLinter()
    releaser.add('linter', linter.close)
    const syntax = openSyntaxChecker()
    releaser.add('parser', syntax.close)
    const ledger = openLedger(redis, {
      leaseMs: config.leaseMs,
      origin: { kind: 'worker', id: config.workerId },
    })
    const stops = openStopSignals({ redisUrl, log })
    releaser.add('stop signals', async () => stops.close())
    const operation = await operationDeps(config, { log, ledger, stops, objects, model, scripts, linter, syntax })
    const health = await openHealth(config.healthPort, { redis: () => redis.ping(), objects: () => objects.ping() })
    releaser.add('health', health.close)
    const closeConsumers = startConsumers(config, operation, log)
    releaser.add('consumers', closeConsumers)
    releaser.add('slots', await keepAnnounced(redis, config))
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

function openPool(config: WorkerConfig, redis: RedisClient, log: Log): ModelPool {
  const { servers, apiKey, timeoutMs, ...how } = config.model
  const endpoints = servers.map((server) => ({ ...server, apiKey }))
  const places = openSharedPlaces({ redis, holder: config.workerId, log })
  return openModelPool({
    endpoints,
    places,
    findings: openSharedFindings({ redis }),
    requestTimeoutMs: timeoutMs,
    retryBudgetMs: how.retryBudgetMs,
    hedgeAfterMs: how.hedgeAfterMs,
    maxInFlight: config.slots,
    stream: how.stream,
    proxy: how.proxy,
    log,
  })
}

type Opened = {
  log: Log
  ledger: Ledger
  stops: StopSignals
  objects: ObjectStore
  model: ModelPool
  scripts: ScriptPool
  linter: PythonLinter
  syntax: SyntaxChecker
}

async function operationDeps(config: WorkerConfig, opened: Opened): Promise<OperationDeps & CompositionDeps> {
  const { objects, model, linter, syntax } = opened
  const { name, temperature, toolChoice } = config.model
  if (name === undefined) await warnWithoutModel(opened)
  else void model.probe(name, new AbortController().signal) // what the servers lack is logged before the first operation
  const python = await loadLanguage('python')
  const blobs = openBlobStore(objects, { maxCacheBytes: config.blobCacheBytes })
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
    storeRestMs: 1_000,
  }
}

/** What a bundle asks for itself: an adapter, else a model; undefined for the default one. */
function askedModel({ name, adapter }: BundleFile['model']): string | undefined {
  if (adapter !== '') return adapter
  return name === 'default' ? undefined : name
}

/** For the operator. A model server that does not answer now may later: operations then say so themselves (AGENT_002). */
async function warnWithoutModel({ model, log }: Opened): Promise<void> {
  await model.describe().catch((error: unknown) => log.warn('no model server answers yet', { error }))
}

/**
 * Operations open at once for each request to the model: while some are set up or proved, others keep the model busy. With
 * one, it was busy 0.78 of what a bare loop has it; with three, 0.96 (bench/utilisation-bench.ts, 256 slots).
 */
const operationsPerSlot = 3

/** Composing computes for longer between two looks at its lock than an operation does. */
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
