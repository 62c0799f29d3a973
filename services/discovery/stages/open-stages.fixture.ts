import type { RunId } from '#domain/ids.ts'
import type { RunRequest } from '#domain/run.ts'
import { loadBundles } from '#bundles/load-bundle.ts'
import { openLinter } from '#lint/linter.ts'
import { openBlobStore } from '#objects/blob-store.ts'
import { openSnapshotReader } from '#objects/snapshot.ts'
import { openParsePool } from '../discover/parse-pool.ts'
import { acceptRun, openTestStores, type TestStores } from '../housekeeping/stored-run.fixture.ts'
import { loadSoundPacks } from '../load-sound-packs.ts'
import { bundlePinner, pinnedBundleReader } from '../pin-bundles.ts'
import { defaultSnapshotLimits } from '../snapshot/snapshot-limits.ts'
import { openSurveyPool } from '../survey/survey-pool.ts'
import type { DiscoveryStageDeps } from './discovery-stage.ts'
import { runSnapshotStage } from './snapshot-stage.ts'

export type TestStages = {
  stores: TestStores
  deps: DiscoveryStageDeps
  signal: AbortSignal
  /** A run over these files whose snapshot is taken. */
  inDiscovery(files: Readonly<Record<string, string>>, request?: Partial<RunRequest>): Promise<RunId>
  close(): Promise<void>
}

/** The stages of discovery with real stores, threads and agents. */
export async function openStages(): Promise<TestStages> {
  const stores = await openTestStores()
  const pool = openParsePool({ threads: 1 })
  const surveys = openSurveyPool({ threads: 1 })
  const linter = await openLinter()
  const signal = AbortSignal.timeout(120_000)
  const { ledger, objects } = stores
  const deps: DiscoveryStageDeps = {
    ledger,
    objects,
    pool,
    surveys,
    linter,
    setups: 'on',
    packs: await loadSoundPacks({}),
    leaveOut: { exclude: [], maxFileBytes: 1_000_000 },
    blobs: openBlobStore(objects, { maxCacheBytes: 0 }),
    readSnapshot: openSnapshotReader(objects),
    pinBundles: bundlePinner(await loadBundles('agents'), objects),
    readBundles: pinnedBundleReader(objects),
  }
  return {
    stores,
    deps,
    signal,
    async inDiscovery(files, request = {}) {
      const { runId } = await acceptRun(stores, files, request)
      const rest = { limits: defaultSnapshotLimits, producer: { add: async () => undefined } }
      await runSnapshotStage(runId, { ...deps, ...rest }, signal)
      return runId
    },
    async close() {
      await pool.close()
      await surveys.close()
      await linter.close()
      await stores.close()
    },
  }
}
