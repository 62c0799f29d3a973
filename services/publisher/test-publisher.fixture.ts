import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { Redis } from 'ioredis'
import { z } from 'zod'
import { deliveryOf } from '#code-hosts/delivery-of.ts'
import { openDeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { RunId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { PartId } from '#domain/patch-note.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { openMetrics } from '#platform/metrics/open-metrics.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import type { Producer } from '#store/queues/producer.ts'
import { delay } from '#platform/clock.ts'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { type FakeGitHubOptions, startFakeGitHub } from '#testing/fake-github/start-fake-github.ts'
import type { Moment } from '#testing/fake-github/network-faults.ts'
import type { FileChanges } from '#testing/fake-github/human-acts.ts'
import { recordedLog } from '#testing/recorded-log.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { takeWaiting } from './deliveries/take-deliveries.ts'
import { reconcile } from './deliveries/reconcile.ts'
import { parseConfig } from './publisher-config.ts'
import { openHost } from './publisher-service.ts'
import { testSigner, testSigningKey } from '#testing/test-signer.ts'

export type TestPublisher = Awaited<ReturnType<typeof openTestPublisher>>
const PatchJob = z.looseObject({ run_id: RunId, part: PartId.optional() })
type PatchJob = z.infer<typeof PatchJob>

export type TestPublisherOptions = FakeGitHubOptions & {
  files?: FileChanges
  /** Of the repository, as its operator has them. */
  settings?: Partial<ReturnType<typeof parseConfig>['config']['repository']>
  requestMs?: number
  /** After that what somebody has taken from the inbox is taken again. */
  silentMs?: number
  leaseMs?: number
}

const atOnce = {
  schedule: (_options: unknown, work: (...args: unknown[]) => unknown, ...args: unknown[]) => work(...args),
}
const group = { key: () => atOnce }

/** For Octokit's throttling: no pauses between writes, no request waits for another, and a limit of a second passes in a millisecond. */
export const noWaiting = { global: group, auth: group, write: group, notifications: group, retryAfterBaseValue: 1 }

const firstFiles = { 'a.py': 'a = 1\n', 'b.py': 'b = 1\n', 'README.md': '# Shop\n' }
/** A run that is not settled after so many looks waits for something that does not come. */
const mostLooks = 12

/**
 * A fake GitHub with one repository, and the publisher's work for it over real Redis and S3, done when the test says so. A test plays
 * what workers compose by `composePart`.
 */
export async function openTestPublisher(options: TestPublisherOptions = {}) {
  const server = await testRedis()
  const store = await testObjects()
  const { namespace } = server
  const { objects, project } = store
  const redis = new Redis(server.url)
  const ledger = openLedger(redis, { namespace, signer: testSigner })
  const blobs = openBlobStore(objects, { maxCacheBytes: 1_000_000, permit: openPutPermit(redis, namespace) })
  const inbox = openDeliveryInbox(redis, namespace, { silentMs: options.silentMs ?? 0, signer: testSigner })
  const arrived = async (request: IncomingMessage, response: ServerResponse) => {
    const { 'x-github-delivery': deliveryId, 'x-github-event': event } = request.headers
    const payload = parseJson(await text(request))
    await inbox.put(deliveryOf({ deliveryId: String(deliveryId), event: String(event) }, payload))
    response.end()
  }
  const webhooks = createServer((request, response) => void arrived(request, response))
  webhooks.listen(0, '127.0.0.1')
  await once(webhooks, 'listening')
  const github = await startFakeGitHub({ webhookUrl: `http://127.0.0.1:${boundPort(webhooks)}`, ...options })
  const repository = await github.addRepository({ owner: 'acme', name: 'shop', files: options.files ?? firstFiles })
  const installation = github.install({ account: 'acme' })
  const recorded = recordedLog()
  const { repository: usual } = parseConfig({
    REMORA_REDIS_URL: server.url,
    REMORA_SIGNING_KEY: testSigningKey,
  }).config
  const config = {
    repository: { ...usual, ...options.settings },
    allowsSetups: true,
    leaseMs: options.leaseMs ?? 20_000,
    project,
    publicUrl: undefined,
    github: {
      appId: String(github.app.id),
      privateKey: github.app.privateKey,
      apiUrl: github.apiUrl,
      pace: noWaiting,
      ...(options.requestMs && { requestMs: options.requestMs }),
    },
  }
  const deaths: AbortController[] = []
  let composePart: (job: PatchJob) => Promise<void> = () => Promise.reject(new Error('no patch is expected'))
  const producer: Pick<Producer, 'add'> = {
    async add(queue, _id, payload) {
      if (queue === 'patches') await composePart(PatchJob.parse(payload))
    },
  }
  const metrics = openMetrics('publisher')
  const stores = { redis, objects, blobs, producer, ledger, namespace, signer: testSigner }
  const start = (modelKind?: ModelKind) => openHost({ ...config, modelKind }, { log: recorded.log, metrics, ...stores })
  let host = await start()

  /** Handles what has arrived. */
  async function takeAll(): Promise<void> {
    await github.webhooks.settled()
    while ((await takeWaiting(host.handling)) > 0) await github.webhooks.settled()
  }

  /** Looks at the run until there is nothing more to do. */
  async function settle(runId: RunId, signal = new AbortController().signal): Promise<void> {
    const { publish, publishing } = host
    for (let looks = 0; looks < mostLooks; looks++) {
      await publish(runId, signal)
      const due = await publishing.due(Number.MAX_SAFE_INTEGER, 1_000)
      if (!due.includes(runId)) return
    }
    throw new Error(`run ${runId} is not settled: ${JSON.stringify(recorded.entries.slice(-3))}`)
  }

  return {
    github,
    redis,
    namespace,
    repository,
    installation,
    ledger,
    blobs,
    objects,
    inbox,
    project,
    log: recorded,
    metrics,
    host: () => host,
    takeAll,
    /** Another repository of the same account. */
    async addRepository(name: string, files: FileChanges = firstFiles) {
      const added = await github.addRepository({ owner: 'acme', name, files })
      await host.handling.installations.addRepositories(installation.id, [{ id: added.id, owner: 'acme', name }])
      return added
    },
    reconcile: (since = 0) => reconcile(since, { app: host.app.app, inbox, log: recorded.log }),
    /** Publishes the run, and dies at the moment that is meant; false when it has ended before. */
    async dieAt(runId: RunId, isMeant: (moment: Moment) => boolean): Promise<boolean> {
      const reached = Promise.withResolvers<true>()
      const dead = new AbortController()
      deaths.push(dead)
      github.watch(async (moment) => {
        if (!isMeant(moment)) return
        reached.resolve(true)
        await once(dead.signal, 'abort')
      })
      // Whoever is dead does nothing more when its request has timed out.
      const stopped = new AbortController()
      const ended = settle(runId, stopped.signal).then(() => false as const)
      const died = await Promise.race([reached.promise, ended])
      ended.catch(() => {})
      stopped.abort(new Error('it died'))
      github.watch(() => {})
      // The lease of a process that is really dead ends by itself.
      const leases = await redis.keys(`${namespace}:{github}:publishing:*`)
      if (leases.length > 0) await redis.del(...leases)
      host = await start()
      return died
    },
    /** Another process has the right to write to the repository, or to work on the run, until the function that is answered is called. */
    async takeLease(of: number | RunId): Promise<() => Promise<void>> {
      const key = `${namespace}:{github}:publishing:${of}`
      await redis.set(key, 'another process')
      // By then it was to be renewed.
      await delay(config.leaseMs)
      return async () => void (await redis.del(key))
    },
    async startAgain(modelKind?: ModelKind): Promise<void> {
      host = await start(modelKind)
    },
    playWorker(compose: typeof composePart) {
      composePart = compose
    },
    async look(runId: RunId): Promise<void> {
      await host.publish(runId, new AbortController().signal)
    },
    settle,
    publicationOf: async (runId: RunId) => (await ledger.getRun(runId)).publication,
    async close() {
      for (const dead of deaths) dead.abort(new Error('it died'))
      await github.close()
      await closeServer(webhooks)
      await redis.quit()
      await store.close()
      await server.close()
    },
  }
}
