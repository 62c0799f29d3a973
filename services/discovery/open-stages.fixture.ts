import type { RunId } from '#domain/ids.ts'
import type { RunRequest } from '#domain/run.ts'
import type { RepositorySource } from '#domain/repository-source.ts'
import { loadBundles } from '#bundles/load-bundle.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import { aNewRun, aRequest } from '#testing/open-test-ledger.ts'
import { openParsePool } from '#stages/discover/parse-pool.ts'
import { aSource } from '#stages/snapshot/fetch/code-host.fixture.ts'
import { type CodeHostClientOptions, openCodeHostClient } from '#stages/snapshot/fetch/code-host-client.ts'
import { openFetchPauses } from '#stages/snapshot/fetch/fetch-pauses.ts'
import { acceptRun, openTestStores, type TestStores } from './housekeeping/stored-run.fixture.ts'
import { loadSoundPacks } from './load-sound-packs.ts'
import { bundlePinner, pinnedBundleReader } from '#stages/plan/pin-bundles.ts'
import { defaultSnapshotLimits } from '#stages/snapshot/snapshot-limits.ts'
import { openSurveyPool } from '#stages/plan/survey/survey-pool.ts'
import type { DiscoveryStageDeps } from './discovery-stage.ts'
import { runSnapshotStage, type SnapshotStageDeps } from './snapshot-stage.ts'

export type TestStages = {
  stores: TestStores
  deps: DiscoveryStageDeps
  /** Of the stage before. */
  snapshots: SnapshotStageDeps
  signal: AbortSignal
  /** An accepted run whose code is to be fetched. */
  toFetch(source?: Partial<RepositorySource>, request?: Partial<RunRequest>): Promise<RunId>
  /** A run over these files whose snapshot is taken. */
  inDiscovery(files: Readonly<Record<string, string>>, request?: Partial<RunRequest>): Promise<RunId>
  close(): Promise<void>
}

type StagesOptions = Partial<CodeHostClientOptions> & { now?: () => number }

/** The stages of discovery with real stores, threads and agents. `now`: the clock of pauses after faults of a code host. */
export async function openStages({ publisher, limits, ...clock }: StagesOptions = {}): Promise<TestStages> {
  const stores = await openTestStores()
  const pool = openParsePool({ threads: 1 })
  const surveys = openSurveyPool({ threads: 1 })
  const linter = await openTestLinter()
  const signal = AbortSignal.timeout(120_000)
  const { ledger, objects } = stores
  const deps: DiscoveryStageDeps = {
    ledger,
    objects,
    pool,
    surveys,
    linter,
    setups: 'on',
    fleet: async () => ({ programs: undefined }),
    packs: await loadSoundPacks({}),
    leaveOut: { exclude: [], maxFileBytes: 1_000_000 },
    blobs: openBlobStore(objects, { maxCacheBytes: 0 }),
    readSnapshot: openSnapshotReader(objects),
    pinBundles: bundlePinner(await loadBundles('agents'), objects),
    readBundles: pinnedBundleReader(objects),
  }
  const codeHost = openCodeHostClient({ publisher, limits })
  const snapshots: SnapshotStageDeps = {
    ...deps,
    codeHost,
    pauses: openFetchPauses(clock),
    maxUploadBytes: 10_000_000,
    limits: defaultSnapshotLimits,
    producer: { add: async () => undefined },
  }
  return {
    stores,
    deps,
    snapshots,
    signal,
    async toFetch(source = {}, request = {}) {
      const repository = aSource(source)
      const run = aNewRun({ projectId: stores.project, request: aRequest({ ...request, repository }) })
      await ledger.createRun({ ...run, uploadKey: objectKeys.upload(stores.project, run.runId) })
      return run.runId
    },
    async inDiscovery(files, request = {}) {
      const { runId } = await acceptRun(stores, files, request)
      await runSnapshotStage(runId, snapshots, signal)
      return runId
    },
    async close() {
      await codeHost.close()
      await pool.close()
      await surveys.close()
      await linter.close()
      await stores.close()
    },
  }
}
