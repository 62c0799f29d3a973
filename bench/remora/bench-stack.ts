import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { loadBundle } from '#bundles/load-bundle.ts'
import { defaultProject, type ProjectId } from '#domain/ids.ts'
import { openLedger, type Ledger } from '#store/ledger/ledger.ts'
import { openFleet } from '#store/ledger/fleet.ts'
import { redisNowMs } from '#store/ledger/store.ts'
import { openBlobStore, type BlobStore } from '#store/objects/blob-store.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { startLocalRedis, type LocalRedis } from '#platform/local-redis.ts'
import { startLocalS3, type LocalS3 } from '#testing/local-s3.ts'
import { openLog } from '#platform/log.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openProducer } from '#store/queues/producer.ts'
import { openAwayModels } from '#stages/dispatch/away-models.ts'
import { openProjectBudgets } from '#stages/dispatch/project-budgets.ts'
import { runDispatcher } from '#stages/dispatch/run-dispatcher.ts'
import { openStageJobs } from '#stages/dispatch/stage-jobs.ts'
import { bundlePinner, pinnedBundleReader, type PinnedBundle } from '#stages/plan/pin-bundles.ts'

/** Redis, the object store and the dispatcher: everything but the worker; this process stands in for discovery. */
export type BenchStack = {
  redis: LocalRedis
  redisVersion: string
  s3: LocalS3
  ledger: Ledger
  objects: ObjectStore
  blobs: BlobStore
  bundle: PinnedBundle
  /** Other projects than the default one need the bundle of their own before a run of theirs is planned. */
  pinFor(project: ProjectId): Promise<void>
  liveSlots(): Promise<number>
  liveWorkers(): Promise<number>
  /** The dispatcher leaves this run alone until it may be composed. */
  hold(runId: string): void
  /** Runs whose operations have ended are composed only after this, so that the two can be measured apart. */
  allowComposition(runId: string): void
  close(): Promise<void>
}

const awayLimitMs = 86_400_000
const bundleFolder = fileURLToPath(new URL('../agents/loop', import.meta.url))

/** Starts the stack with its data under `dir`. */
export async function openBenchStack(dir: string): Promise<BenchStack> {
  const releaser = openReleaser()
  const log = openLog({ service: 'bench', level: 'warn' })
  const redis = await startLocalRedis({ env: process.env, dir: join(dir, 'redis') })
  releaser.add('Redis server', redis.stop)
  const s3 = await startLocalS3({ dir: join(dir, 's3') })
  releaser.add('S3 server', s3.stop)
  const client = new Redis(redis.url)
  releaser.add('Redis', async () => client.disconnect())
  const objects = openS3ObjectStore({ ...s3, credentials: s3 })
  releaser.add('objects', async () => objects.close())
  const producer = openProducer({ redisUrl: redis.url, log })
  releaser.add('producer', producer.close)
  const ledger = openLedger(client, { origin: { kind: 'discovery', id: 'bench' } })
  const loaded = await loadBundle(bundleFolder)
  const pin = bundlePinner(new Map([['loop', loaded]]), objects)
  const [bundle] = await pin(defaultProject, ['loop'])
  if (bundle === undefined) throw new Error('the bundle was not pinned')
  const { hold, allowComposition, ...gated } = openGate(ledger, openStageJobs(producer))
  const { read: fleet, want } = openFleet(client)
  const readBundles = pinnedBundleReader(objects)
  const awayModels = openAwayModels({ ledger, readBundles, wantModels: want, awayLimitMs, log })
  const budgets = openProjectBudgets({ ledger, now: () => redisNowMs(client), log })
  releaser.add('dispatcher', runDispatcher({ ...gated, producer, fleet, awayModels, budgets, log }))
  return {
    redis,
    redisVersion: /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? 'unknown',
    s3,
    ledger,
    objects,
    blobs: openBlobStore(objects, { maxCacheBytes: 1 }),
    bundle,
    pinFor: async (project) => void (await pin(project, ['loop'])),
    liveWorkers: async () => (await fleet()).workers,
    liveSlots: async () => (await fleet()).operations,
    hold,
    allowComposition,
    close: releaser.release,
  }
}

/** What the dispatcher is given instead of `ledger` and `jobs`, so that it leaves runs alone that are held, or not yet to be composed. */
function openGate(ledger: Ledger, jobs: ReturnType<typeof openStageJobs>) {
  const composable = new Set<string>()
  const held = new Set<string>()
  const ensure: typeof jobs.ensure = async (run) => (composable.has(run.runId) ? jobs.ensure(run) : undefined)
  const activeRuns = async () => (await ledger.activeRuns()).filter(({ runId }) => !held.has(runId))
  return {
    ledger: { ...ledger, activeRuns },
    stageJobs: { ensure },
    hold: (runId: string) => void held.add(runId),
    allowComposition(runId: string) {
      composable.add(runId)
      held.delete(runId)
    },
  }
}
