import { openDeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { openBranchRuns } from '#code-hosts/branch-runs.ts'
import { openInstallations } from '#code-hosts/installations.ts'
import { AppError, hasCode } from '#domain/error.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { withLease } from '#store/ledger/lease.ts'
import { type Metrics } from '#platform/metrics/open-metrics.ts'
import { type BlobStore, openBlobStore } from '#store/objects/blob-store.ts'
import { type ObjectStore } from '#store/objects/object-store.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import { getBundle, getChangeSets, getComposition, getFindings } from '#store/objects/stored-records.ts'
import { delay, repeatEvery } from '#platform/clock.ts'
import { type Log, processName } from '#platform/log.ts'
import { type RedisClient } from '#platform/redis-client.ts'
import { openSigner, type Signer } from '#platform/signer.ts'
import { type Releaser, type ServiceDeps } from '#platform/service-process.ts'
import { openDeclinedChanges } from '#stages/publish/declined-changes.ts'
import { openConsumer } from '#store/queues/consumer.ts'
import { openProducer, type Producer } from '#store/queues/producer.ts'
import { startService } from '#store/start-service.ts'
import { openReadAccess } from './access/read-access-server.ts'
import { runReconciler } from './deliveries/reconcile.ts'
import { openReviewCommands } from './deliveries/review-commands.ts'
import { takeDeliveries } from './deliveries/take-deliveries.ts'
import { type GitHubApp, type GitHubAppOptions, openGitHubApp, orHostError } from '#code-hosts/github-client.ts'
import { declineChanges, declinedOf } from '#stages/publish/pulls/choose-parts-of.ts'
import { publishRun } from '#stages/publish/pulls/publish-run.ts'
import { openPlaces, openPublishingRuns, type PublishingRuns } from '#stages/publish/pulls/publishing-runs.ts'
import { measuredLedger, measuredRequests, showOverdue } from './publisher-metrics.ts'
import { parseConfig, type PublisherConfig } from './publisher-config.ts'

export type PublisherService = { healthPort: number; accessPort: number | undefined; close(): Promise<void> }

const origin = { kind: 'publisher', id: 'github' } as const
const graceMs = 10_000
const publicationsAtOnce = { all: 16, ofInstallation: 2 }
const followMs = 500
const dueAtOnce = 200
/** A GitHub that is away is asked again so much later. */
const awayRestMs = 2_000

export const publisher = { name: 'publisher', parseConfig, start: startPublisher } as const

/** The one process with the key of the GitHub App takes webhooks, starts their runs, tells GitHub what became of them. */
function startPublisher(config: PublisherConfig, deps: ServiceDeps): Promise<PublisherService> {
  const { storage, health, signingKeys } = config
  const { redisUrl } = storage
  const signer = openSigner(signingKeys)
  return startService({ name: 'publisher', origin, storage, health, signer }, deps, async (opened, releaser) => {
    const { permit, ...stores } = opened
    const producer = openProducer({ redisUrl, log: deps.log })
    releaser.add('producer', () => producer.close())
    const blobs = openBlobStore(stores.objects, { maxCacheBytes: 0, permit })
    return { accessPort: await startHost(config, { ...deps, ...stores, redisUrl, blobs, producer, signer }, releaser) }
  })
}

type Stores = {
  redis: RedisClient
  redisUrl: string
  objects: ObjectStore
  blobs: BlobStore
  producer: Producer
  ledger: Ledger
  signer: Signer
}

/** Without an app the process only waits, so that a deployment may always have it. */
async function startHost(
  config: PublisherConfig,
  deps: ServiceDeps & Stores & { metrics: Metrics },
  releaser: Releaser,
): Promise<number | undefined> {
  const { github } = config
  const { log, redisUrl, producer } = deps
  if (github === undefined) {
    log.info('there is no GitHub App (REMORA_GITHUB_APP_ID): nothing is published')
    return undefined
  }
  const { app, handling, publishing, reads, publish } = await openHost({ ...config, github }, deps)
  releaser.add('webhooks', takeDeliveries(handling))
  releaser.add('missed webhooks', runReconciler({ app: app.app, inbox: handling.inbox, everyMs: config.pollMs, log }))
  const consumer = openConsumer({
    redisUrl,
    queue: 'publications',
    concurrency: publicationsAtOnce.all,
    lockMs: config.leaseMs,
    log,
    handler: async ({ run_id: runId }, signal) => publish(runId, signal),
  })
  releaser.add('consumer', () => consumer.close({ graceMs }))
  releaser.add('runs to publish', followRuns(publishing, producer))
  const { secret, host, port } = config.access
  if (secret === undefined) return undefined
  const access = await openReadAccess({ host, port, secret }, { ...reads, apiUrl: github.apiUrl })
  releaser.add('read access', access.close)
  return access.port
}

type HostConfig = Pick<PublisherConfig, 'allowsSetups' | 'leaseMs' | 'project' | 'publicUrl' | 'repository'> & {
  github: Omit<GitHubAppOptions, 'log'>
  modelKind?: ModelKind | undefined
}

/** The loops that have it done are not started here. HOST_003 when GitHub does not know the app by its key. */
export async function openHost(
  { github, repository: operator, allowsSetups, leaseMs, project, publicUrl, modelKind }: HostConfig,
  deps: Pick<ServiceDeps, 'log'> &
    Omit<Stores, 'redisUrl' | 'producer'> & { producer: Pick<Producer, 'add'>; metrics: Metrics; namespace?: string },
) {
  const { log, redis, producer, objects, metrics, namespace, signer } = deps
  const ledger = measuredLedger(deps.ledger, metrics)
  const app = openGitHubApp({ ...github, log, onAnswer: measuredRequests(metrics) })
  const { appId, botLogin } = await whoWeAre(app, log)
  const installations = openInstallations(redis, namespace)
  const publishing = openPublishingRuns(redis, namespace)
  const branchRuns = openBranchRuns(redis, namespace)
  const shared = { app, appId, botLogin, installations, publishing, branchRuns, ledger, producer, log, metrics }
  const records = openRecords(deps)
  const declined = openDeclinedChanges(redis, namespace)
  const isFakeHost = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(github.apiUrl).hostname)
  const inTurn = <T>(of: number | RunId, work: (lost: AbortSignal) => Promise<T>) =>
    withLease(redis, { key: `${namespace ?? 'remora'}:{github}:publishing:${of}`, ms: leaseMs }, work)
  const places = openPlaces(publicationsAtOnce.ofInstallation)
  const inbox = openDeliveryInbox(redis, namespace ?? 'remora', { signer, silentMs: 2 * leaseMs, log })
  const publishDeps = { ...shared, inbox, records, objects, operator, publicUrl, isFakeHost, declined, inTurn, places }
  showOverdue(metrics, publishing)
  const decline = (run: Run, ids: readonly string[]) => declineChanges(run, ids, { ...publishDeps, how: 'add' })
  const wantAgain = (run: Run, ids: readonly string[]) => declineChanges(run, ids, { ...publishDeps, how: 'remove' })
  const declinedIn = (run: Run, ids: readonly string[]) => declinedOf(run, ids, publishDeps)
  const review = openReviewCommands({ ...shared, records, modelKind, decline, wantAgain, declinedOf: declinedIn })
  return {
    app,
    publishing,
    reads: shared,
    handling: { ...shared, inbox, review, operator, allowsSetups, project, modelKind, consumer: processName() },
    publish: (runId: RunId, signal: AbortSignal) => publishRun(runId, publishDeps, signal),
  }
}

/** Waits while GitHub is away, as for a store. */
async function whoWeAre({ app }: GitHubApp, log: Pick<Log, 'warn'>): Promise<{ appId: number; botLogin: string }> {
  for (;;) {
    try {
      const { data } = await orHostError(app.request('GET /app'))
      if (data?.slug === undefined) throw new AppError('HOST_003', 'GitHub does not say what the app is called')
      return { appId: data.id, botLogin: `${data.slug}[bot]` }
    } catch (error) {
      if (!hasCode(error, 'HOST_001')) throw error
      log.warn('GitHub does not say who the app is: it is asked again', { error: String(error) })
      await delay(awayRestMs)
    }
  }
}

/** A run has one job at a time. */
function followRuns(publishing: PublishingRuns, producer: Pick<Producer, 'add'>): () => Promise<void> {
  return repeatEvery(followMs, async () => {
    for (const runId of await publishing.due(Date.now(), dueAtOnce)) {
      await producer.add('publications', runId, { run_id: runId, traceparent: null })
    }
  })
}

function openRecords({ objects, blobs }: Pick<Stores, 'objects' | 'blobs'>) {
  const readSnapshot = openSnapshotReader(objects)
  return {
    readBlob: (project: string, hash: string) => blobs.get(project, hash),
    readBundle: (project: string, hash: string) => getBundle(objects, project, hash),
    readChangeSets: (project: string, recordHash: string) => getChangeSets(objects, project, recordHash),
    readFindings: (project: string, recordHash: string) => getFindings(objects, project, recordHash),
    readSnapshot: (project: string, snapshotId: string) => readSnapshot(project, snapshotId),
    async readComposition(
      { projectId, runId, compositionKey }: { projectId: string; runId: RunId; compositionKey: string | null },
      hash = compositionKey,
    ) {
      return hash === null ? null : getComposition(objects, { projectId, runId, hash })
    },
  }
}
