import { sizeOfSets } from '#change-sets/sets-of-run.ts'
import { agentNames } from '#bundles/bundle-files.ts'
import { announcedFindable, requireFindable, requireKnownKinds } from '#bundles/findable-nodes.ts'
import { openDeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { openInstallations } from '#code-hosts/installations.ts'
import { openFleet, storeOfFleet } from '#store/ledger/fleet.ts'
import { readWorkers } from '#store/ledger/live-workers.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { orStoreError } from '#store/ledger/store.ts'
import { openMemoryGate } from '#store/ledger/memory-gate.ts'
import { type Notices, openNotices } from '#store/ledger/notices.ts'
import { publicModelsCheck } from '#store/ledger/read-runs.ts'
import { redisCheck, expectUsableRedis } from '#store/ledger/redis-check.ts'
import { type BlobStore, openBlobStore } from '#store/objects/blob-store.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { loggedOutages } from '#store/objects/logged-outages.ts'
import { type ObjectStore, objectStoreCheck, undefinedWhenMissing } from '#store/objects/object-store.ts'
import { openObjects } from '#store/objects/open-objects.ts'
import type { Composition } from '#store/objects/composition.ts'
import { getSnapshot, readSnapshot, type Snapshot } from '#store/objects/snapshot.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { openPartCheck, openReadiness, type PartState } from '#platform/readiness.ts'
import { connectRedis, type RedisClient } from '#platform/redis-client.ts'
import type { Log } from '#platform/log.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { openSigner, type Signer } from '#platform/signer.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openProducer, type Producer } from '#store/queues/producer.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { AppError } from '#domain/error.ts'
import type { RunRequest } from '#domain/run.ts'
import { getDecisionRecord } from '#store/objects/decision-record.ts'
import { getPlanSummary } from '#store/objects/plan-summary.ts'
import { openEdgeLists } from '#store/objects/edge-list.ts'
import { openNodeLists } from '#store/objects/node-list.ts'
import {
  getAttemptRecord,
  getBundle,
  getChangeSets,
  getComposition,
  getArtifact,
  getFindings,
  getUnfinishedAttempt,
} from '#store/objects/stored-records.ts'
import type { PublishableDeps } from '#stages/publish/read-publishable.ts'
import { noTracing, type Tracing } from '#platform/tracing/open-tracing.ts'
import { createApp } from './app.ts'
import type { ApiConfig } from './api-config.ts'
import { openRateLimit } from './http/rate-limit.ts'
import { openSharedRateLimit, type SharedRateLimit } from './http/shared-rate-limit.ts'
import { openIdempotencyStore } from '#stages/intake/idempotency.ts'
import { openUploadGate } from './routes/intake/intake-routes.ts'
import { openProjectStore } from './routes/access/project-store.ts'
import { openTokenStore } from './routes/access/token-store.ts'
import { openStoredCallers, openTokenTable } from './routes/access/token-table.ts'
import type { AgendaRouteDeps } from './routes/agenda/agenda-routes.ts'
import type { RunRouteDeps } from './routes/runs/run-routes.ts'
import type { TranscriptRecords } from './routes/transcript/transcript-view.ts'
import type { ChangeRecords } from '#stages/review/find-sets.ts'
import { showInbox } from './routes/webhooks/webhook-routes.ts'
import { redisUserCheck } from '#store/ledger/redis-users.ts'

/** Commands fail after one reconnect, or 5 s of silence, instead of waiting: the caller gets a 503 and may retry. */
const impatient = { retries: 1, connectTimeoutMs: 2_000, answerMs: 5_000 }
/** The same for what is read of the object store, which may be slow at times. */
const silentMs = 10_000
/** Answers to unknown tokens of one address: 20 at once, then one a second. */
const badTokens = { perSecond: 1, burst: 20 }
const blobCacheBytes = 32 * 1024 * 1024

type ApiDeps = {
  log: Log
  redactor: Redactor
  /** Without them nothing is measured or traced. */
  metrics?: Pick<Metrics, 'observe' | 'gauge'>
  traces?: Tracing
}

const noMetrics = { observe() {}, gauge() {} }

/** Opens the API over its stores, without a port. `close` ends waiting requests. */
export async function openApi(config: ApiConfig, deps: ApiDeps) {
  const { log, redactor, metrics = noMetrics, traces = noTracing } = deps
  const { namespace = 'remora' } = config
  const releaser = openReleaser()
  try {
    const agents = await agentNames(config.agentsDir)
    const { redis, isConnected } = connectRedis(config.storage.redisUrl, impatient, log)
    releaser.add('redis', async () => redis.disconnect())
    await expectUsableRedis(redis, namespace)
    const signer = openSigner(config.signingKeys)
    showInbox(metrics, openDeliveryInbox(redis, namespace, { signer }))
    const objects = loggedOutages(await openObjects({ ...config.storage.s3, silentMs }), log, metrics)
    releaser.add('objects', async () => objects.close())
    const producer = openProducer({ redisUrl: config.storage.redisUrl, prefix: `{${namespace}}`, log })
    releaser.add('producer', () => producer.close())
    const notices = openNotices({ redisUrl: config.storage.redisUrl, namespace, log })
    releaser.add('notices', async () => notices.close())
    const closing = new AbortController()
    const checkStore = openPartCheck(objectStoreCheck(objects))
    const needed = { redis: redisCheck(redis, config.redisMemoryShare), object_store: checkStore }
    const parts = appParts(
      { ...config, agents },
      {
        log,
        redactor,
        redis,
        objects,
        producer,
        notices,
        namespace,
        signer,
        traces,
        checkStore,
        closing: closing.signal,
      },
    )
    const shown = { models: publicModelsCheck(parts.runs.ledger), redis_user: redisUserCheck(redis, 'api') }
    const readiness = openReadiness(needed, shown)
    const app = createApp({ log, redactor, metrics, isRedisReady: isConnected, readiness, ...parts })
    releaser.add('waiting requests', async () => closing.abort())
    return { app, objects, readiness, endWaiting: () => closing.abort(), close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

type Opened = {
  redis: RedisClient
  objects: ObjectStore
  producer: Producer
  notices: Notices
  log: Log
  redactor: Redactor
  namespace: string
  signer: Signer
  traces: Tracing
  checkStore: () => Promise<PartState>
  closing: AbortSignal
}

function openAuth(config: ApiConfig, { store, table, log, perMinute }: AuthDeps) {
  return {
    tokens: config.tokens,
    findStored: openStoredCallers({ table, store, log, limits: config.tokenLimits }),
    perMinute,
    perToken: openRateLimit({ perSecond: config.requestsPerSecond, burst: 5 * config.requestsPerSecond }),
    perAddress: openRateLimit(badTokens),
  }
}

type AuthDeps = Omit<Parameters<typeof openStoredCallers>[0], 'limits'> & { perMinute: SharedRateLimit }

const origin = { kind: 'api', id: 'api' } as const

function appParts(
  config: ApiConfig & { agents: readonly string[] },
  { redis, objects, producer, notices, log, redactor, namespace, signer, traces, checkStore, closing }: Opened,
) {
  const archive = openEventSegments(objects, config.storage.events)
  const ledger = openLedger(redis, { namespace, origin, archive, redactor, log, traces, signer })
  const fleet = openFleet(redis, namespace)
  const blobs = openBlobStore(objects, { maxCacheBytes: blobCacheBytes, permit: openPutPermit(redis, namespace) })
  const records = openRunRecords(objects, blobs)
  const idempotency = openIdempotencyStore(redis, namespace)
  const memoryGate = openMemoryGate(redis, config.redisMemoryShare, log)
  const store = openTokenStore(redis, { log, namespace, signer })
  const table = openTokenTable(store)
  const { repositories, webhooks, known } = openGithub(config.github, { redis, namespace, signer })
  const projects = openProjectStore(redis, namespace)
  return {
    auth: openAuth(config, { store, table, log, perMinute: openSharedRateLimit(redis, namespace) }),
    intake: {
      ...intakeSettings(config),
      checkFindable: (request: FindableRequest) => checkFindable(request, { redis, namespace, dir: config.agentsDir }),
      traces,
      objects,
      blobs,
      ledger,
      producer,
      idempotency,
      memoryGate,
      repositories,
      log,
    },
    runs: {
      ledger,
      records,
      readAway: async () => (await fleet.read()).away,
      readStore: () => storeOfFleet(checkStore, fleet),
      log,
      redactor,
      closing,
      notices,
    },
    agendas: { ledger, idempotency, producer, records, fullPrompts: config.fullPrompts },
    changes: { ledger, records, producer, memoryGate, modelKind: config.modelKind },
    transcripts: { ledger, records, fullPrompts: config.fullPrompts, redactor, log, closing, notices },
    tokens: { store, projects, table, idempotency },
    usage: { ledger, projects, log },
    webhooks,
    github: { ...known, ledger, producer, projects, log },
    workers: { readWorkers: () => orStoreError(readWorkers(redis, namespace)), producer, dir: config.agentsDir },
  }
}

function intakeSettings(config: ApiConfig & { agents: readonly string[] }) {
  const { agents, allowsSetups, maxUploadBytes, modelKind, maxUploads } = config
  return { agents, allowsSetups, maxUploadBytes, modelKind, uploadGate: openUploadGate(maxUploads) }
}

function openGithub(
  { webhookSecret: secret, host, hasPublisher }: ApiConfig['github'],
  { redis, namespace, signer }: Pick<Opened, 'redis' | 'namespace' | 'signer'>,
) {
  const installations = openInstallations(redis, namespace)
  const inbox = openDeliveryInbox(redis, namespace, { signer })
  return {
    repositories: { installations, host, hasPublisher },
    webhooks: { secret, inbox },
    known: { installations, inbox, hasPublisher },
  }
}

type FindableRequest = Pick<RunRequest, 'agents' | 'nodeKinds'>

/** Checks against what discovery has announced; nothing is refused before it has. */
async function checkFindable(
  { agents, nodeKinds }: FindableRequest,
  { redis, namespace, dir }: Pick<Opened, 'redis' | 'namespace'> & { dir: string | undefined },
): Promise<void> {
  const findable = await announcedFindable(redis, namespace)
  if (findable === undefined) return
  requireKnownKinds(nodeKinds, findable)
  await requireFindable(agents, dir, findable)
}

/** Bounds what is kept of the runs that are looked at just now. None of it changes once it is stored. */
const remembered = { compositions: 8, snapshots: 64, changeSetBytes: 64 * 2 ** 20 }

/** Reads what runs refer to from the object store. */
export function openRunRecords(
  objects: ObjectStore,
  blobs: BlobStore,
): ChangeRecords &
  PublishableDeps['records'] &
  TranscriptRecords &
  RunRouteDeps['records'] &
  AgendaRouteDeps['records'] {
  const compositions = openCachedAnswers<Composition>({ max: remembered.compositions })
  const changeSets = openCachedAnswers<readonly ChangeSet[]>({ maxSize: remembered.changeSetBytes, sizeOf: sizeOfSets })
  const snapshots = openCachedAnswers<Snapshot>({ max: remembered.snapshots })
  return {
    nodes: openNodeLists(objects),
    edges: openEdgeLists(objects),
    readBlob: (projectId, hash) => blobs.get(projectId, hash),
    // Not cached: of a large repository it is 30 MB, and it is read only for an archive of the tree.
    readSnapshot: (projectId, snapshotId) => readSnapshot(objects, projectId, snapshotId),
    readBundle: (projectId, hash) => getBundle(objects, projectId, hash),
    readChangeSets: (projectId, recordHash) =>
      changeSets.get(`${projectId} ${recordHash}`, () => getChangeSets(objects, projectId, recordHash)),
    readFindings: (projectId, recordHash) => getFindings(objects, projectId, recordHash),
    readArtifact: (run, hash) => getArtifact(objects, run, hash).catch(undefinedWhenMissing),
    readAttempt: (projectId, recordHash) => getAttemptRecord(objects, projectId, recordHash),
    readUnfinished: (projectId, recordHash) => getUnfinishedAttempt(objects, projectId, recordHash),
    readDecision: ({ projectId, runId }, hash) => getDecisionRecord(objects, { projectId, runId, hash }),
    async readComposition({ projectId, runId, compositionKey }, hash: string | null = compositionKey) {
      if (hash === null) return null
      const read = () => getComposition(objects, { projectId, runId, hash })
      return compositions.get([projectId, runId, hash].join(' '), read)
    },
    async readPlan({ projectId, runId, planKey: hash }) {
      if (hash === null) throw new AppError('RUN_004', `Run "${runId}" has no plan yet.`)
      return getPlanSummary(objects, { projectId, runId, hash })
    },
    async readSkipped({ projectId, snapshotId }) {
      if (snapshotId === null) return []
      const read = () => getSnapshot(objects, projectId, snapshotId)
      return (await snapshots.get([projectId, snapshotId].join(' '), read)).skipped
    },
  }
}
