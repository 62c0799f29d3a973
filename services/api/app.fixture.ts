import { Redis } from 'ioredis'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { packTar } from 'modern-tar'
import { openDeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { type Installations, openInstallations } from '#code-hosts/installations.ts'
import { openFleet, storeOfFleet } from '#store/ledger/fleet.ts'
import { readWorkers } from '#store/ledger/live-workers.ts'
import { sha256 } from '#domain/ids.ts'
import { allScopes } from '#domain/scope.ts'
import { openLedger, type Ledger } from '#store/ledger/ledger.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { openMemoryGate } from '#store/ledger/memory-gate.ts'
import { openNotices } from '#store/ledger/notices.ts'
import { publicModelsCheck } from '#store/ledger/read-runs.ts'
import { redisCheck } from '#store/ledger/redis-check.ts'
import { openBlobStore, type BlobStore } from '#store/objects/blob-store.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { type ObjectStore, objectStoreCheck } from '#store/objects/object-store.ts'
import { openLog } from '#platform/log.ts'
import { openPartCheck, openReadiness } from '#platform/readiness.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { noTracing } from '#platform/tracing/open-tracing.ts'
import { createApp, type AppDeps } from './app.ts'
import type { ApiEnv, TokenLimits } from './http/api-env.ts'
import { accessToken } from './api-config.ts'
import { openRateLimit, type RateLimit } from './http/rate-limit.ts'
import { openSharedRateLimit } from './http/shared-rate-limit.ts'
import { openIdempotencyStore } from '#stages/intake/idempotency.ts'
import { openUploadGate } from './routes/intake/intake-routes.ts'
import { openRunRecords } from './api-app.ts'
import { openProjectStore } from './routes/access/project-store.ts'
import { tokenIdOf, tokenText } from './routes/access/token-record.ts'
import { openTokenStore, type TokenStore } from './routes/access/token-store.ts'
import { openStoredCallers, openTokenTable } from './routes/access/token-table.ts'
import { testSigner } from '#testing/test-signer.ts'

const ownToken = 'token-of-this-project'
const otherToken = tokenText(Buffer.alloc(32))

export const testWebhookSecret = 'signs-the-webhooks-of-tests'

const noLimits = { requestsPerMinute: null, runs: null }

export type TestApi = {
  app: OpenAPIHono<ApiEnv>
  /** The operator's token, for a caller over a real port. Its runs are of `project`. */
  token: string
  project: string
  /** What intake works with, for tests that break one part of it. */
  intake: AppDeps['intake']
  ledger: Ledger
  redis: Redis
  namespace: string
  objects: ObjectStore
  blobs: BlobStore
  installations: Installations
  /** The tokens kept in Redis, and how often all of them were read. */
  tokenStore: TokenStore & { reads: number }
  /** Ids of the jobs that were queued, in order. */
  jobs: string[]
  /** Asks with the operator's token. */
  ask(path: string, init?: RequestInit): Promise<Response>
  /** `other`: with a token of another project, which has every scope and is stored when it is first used. */
  askAs(token: 'other' | 'none', path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

type TestServer = { url: string; namespace: string; close(): Promise<void> }
/** Limits are off unless given; lines of the log are dropped unless asked for. */
export type TestApiOptions = {
  maxUploadBytes?: number
  perToken?: RateLimit
  /** Of tokens that have none of their own. */
  tokenLimits?: TokenLimits
  perAddress?: RateLimit
  writeLog?: (line: string) => void
  /** How often the token of an open stream is looked up again. */
  recheckMs?: number
  /** A followed run or conversation is looked at so often without a notice. */
  lookMs?: number
  /** Of the transcripts. */
  fullPrompts?: boolean
  checkFindable?: TestApi['intake']['checkFindable']
  hasPublisher?: boolean
  webhookSecret?: string | undefined
  webhookBodyMs?: number
  /** Secrets of the configuration. */
  secrets?: readonly string[]
}
type TestStore = { objects: ObjectStore; project: string; close(): Promise<void> }

/**
 * The API over real Redis and S3, without a port. Only the queue is left out: its jobs are recorded. Closes what it is
 * given.
 */
export async function openTestApi(
  server: TestServer,
  store: TestStore,
  options: TestApiOptions = {},
): Promise<TestApi> {
  const redis = new Redis(server.url)
  const { objects, project } = store
  const redactor = openRedactor(options.secrets)
  const { writeLog: write } = options
  const log = openLog({ service: 'api', level: write === undefined ? 'silent' : 'debug', ...(write ? { write } : {}) })
  const archive = openEventSegments(objects)
  const ledger = openLedger(redis, { namespace: server.namespace, archive, redactor, log, signer: testSigner })
  const blobs = openBlobStore(objects, { maxCacheBytes: 1_000_000, permit: openPutPermit(redis, server.namespace) })
  const records = openRunRecords(objects, blobs)
  const fleet = openFleet(redis, server.namespace)
  const readAway = async () => (await fleet.read()).away
  const readStore = () => storeOfFleet(openPartCheck(objectStoreCheck(objects)), fleet)
  const closing = new AbortController()
  const notices = openNotices({ redisUrl: server.url, namespace: server.namespace, log })
  const jobs: string[] = []
  const installations = openInstallations(redis, server.namespace)
  const inbox = openDeliveryInbox(redis, server.namespace, { signer: testSigner })
  const intake: TestApi['intake'] = {
    agents: ['docstring', 'lint'],
    allowsSetups: true,
    traces: noTracing,
    checkFindable: options.checkFindable ?? (async () => {}),
    maxUploadBytes: options.maxUploadBytes ?? 5_000_000,
    objects,
    blobs,
    ledger,
    producer: { add: async (_queue, id) => void jobs.push(id) },
    idempotency: openIdempotencyStore(redis, server.namespace),
    memoryGate: openMemoryGate(redis, 0.8, log),
    uploadGate: openUploadGate(8),
    repositories: { installations, host: 'github.com', hasPublisher: options.hasPublisher ?? true },
    log,
  }
  const tokenStore = countedReads(openTokenStore(redis, { log, namespace: server.namespace, signer: testSigner }))
  const table = openTokenTable(tokenStore)
  const readerLimits = { recheckMs: options.recheckMs ?? 3_000, lookMs: options.lookMs ?? 15_000 }
  const unlimited = openRateLimit({ perSecond: 0, burst: 1 })
  const app = createApp({
    auth: {
      tokens: [accessToken(ownToken, project)],
      findStored: openStoredCallers({ table, store: tokenStore, log, limits: options.tokenLimits ?? noLimits }),
      perMinute: openSharedRateLimit(redis, server.namespace),
      perToken: options.perToken ?? unlimited,
      perAddress: options.perAddress ?? unlimited,
    },
    log,
    redactor,
    metrics: { observe() {} },
    isRedisReady: () => redis.status === 'ready',
    readiness: openReadiness(
      { redis: redisCheck(redis, 0.8), object_store: objectStoreCheck(objects) },
      { models: publicModelsCheck(ledger) },
    ),
    intake,
    runs: {
      ledger,
      records,
      readAway,
      readStore,
      log,
      redactor,
      closing: closing.signal,
      notices,
      readerLimits,
    },
    agendas: {
      ledger,
      producer: { add: async (_queue, id) => void jobs.push(id) },
      idempotency: intake.idempotency,
      records,
      fullPrompts: options.fullPrompts ?? true,
    },
    changes: {
      ledger,
      records,
      producer: { add: async (_queue, id) => void jobs.push(id) },
      memoryGate: intake.memoryGate,
    },
    transcripts: {
      ledger,
      records,
      fullPrompts: options.fullPrompts ?? true,
      redactor,
      log,
      closing: closing.signal,
      notices,
      readerLimits,
    },
    tokens: {
      store: tokenStore,
      projects: openProjectStore(redis, server.namespace),
      table,
      idempotency: intake.idempotency,
    },
    usage: { ledger, projects: openProjectStore(redis, server.namespace), log },
    github: {
      ledger,
      producer: { add: async (_queue, id) => void jobs.push(id) },
      installations,
      inbox,
      projects: openProjectStore(redis, server.namespace),
      hasPublisher: options.hasPublisher ?? true,
      log,
    },
    webhooks: {
      secret: 'webhookSecret' in options ? options.webhookSecret : testWebhookSecret,
      inbox,
      ...(options.webhookBodyMs !== undefined && { bodyMs: options.webhookBodyMs }),
    },
    workers: {
      readWorkers: () => readWorkers(redis, server.namespace),
      producer: { countJobs: async () => ({ waiting: jobs.length, active: 0, delayed: 0 }) },
      dir: undefined,
    },
  })
  const close = () =>
    inOrder([
      async () => closing.abort(),
      async () => notices.close(),
      () => redis.quit(),
      () => store.close(),
      () => server.close(),
    ])
  const stored = { redis, namespace: server.namespace, ledger, objects, blobs, installations, tokenStore }
  return {
    app,
    token: ownToken,
    project,
    intake,
    jobs,
    ...stored,
    ...askers(app, () => storeOther(tokenStore, `${project}x`)),
    close,
  }
}

async function inOrder(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const step of steps) await step()
}

function countedReads(store: TokenStore): TestApi['tokenStore'] {
  const counted: TestApi['tokenStore'] = {
    ...store,
    reads: 0,
    async readAll() {
      counted.reads += 1
      return store.readAll()
    },
  }
  return counted
}

async function storeOther(store: TokenStore, projectId: string): Promise<void> {
  const tokenId = tokenIdOf(otherToken)
  const record = { tokenId, projectId, name: 'other', scopes: [...allScopes], createdAt: 0, expiresAt: null }
  await store.add(sha256(otherToken), record)
}

function askers(app: TestApi['app'], withOther: () => Promise<void>): Pick<TestApi, 'ask' | 'askAs'> {
  const askWith = async (token: string | undefined, path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return app.request(path, { ...init, headers })
  }
  return {
    ask: (path, init) => askWith(ownToken, path, init),
    async askAs(token, path, init) {
      if (token === 'other') await withOther()
      return askWith(token === 'other' ? otherToken : undefined, path, init)
    },
  }
}

/** A tar of files by path. */
export async function tarOf(files: Readonly<Record<string, string>>): Promise<Uint8Array<ArrayBuffer>> {
  const entries = Object.entries(files).map(([name, body]) => ({
    // Without a time of its own the archive of the same files would be another one a second later.
    header: { name, size: Buffer.byteLength(body), mtime: new Date(0) },
    body,
  }))
  return new Uint8Array(await packTar(entries))
}

/** The form of `POST /v1/runs`. */
export function runForm(archive: Uint8Array<ArrayBuffer>, request: object = { agents: ['lint'] }): FormData {
  const form = new FormData()
  form.set('request', JSON.stringify(request))
  form.set('archive', new Blob([archive]), 'repository.tar')
  return form
}
