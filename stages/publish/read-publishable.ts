import { placesOfSets } from '#change-sets/sets-of-run.ts'
import { type AgentBundle, awaitedBundles } from '#domain/agent-bundle.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { changedFiles, type Composition } from '#store/objects/composition.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import type { CommitSource } from './plan-commits.ts'

/** Holds what is known of the changes of a run that are to be published. */
export type Publishable = CommitSource & {
  run: Run
  composition: Composition
  /** Says what each change set was made for, by its id. */
  nodes: ReadonlyMap<string, Pick<CodeNode, 'path' | 'qualifiedName'>>
  /** The descriptions of the run's agents, by their names. */
  descriptions: ReadonlyMap<string, string>
}

export type PublishableDeps = {
  ledger: Pick<Ledger, 'endedOperations' | 'operationsOfSets'>
  records: {
    readBlob(project: ProjectId, hash: string): Promise<Uint8Array>
    readBundle(project: ProjectId, hash: string): Promise<Pick<AgentBundle, 'file'>>
    /** The change sets of an attempt record. */
    readChangeSets(project: ProjectId, recordHash: string): Promise<readonly ChangeSet[]>
    readSnapshot(project: ProjectId, snapshotId: string): Promise<Pick<SnapshotView, 'find'>>
  }
}

/** A change, and what it was made for. */
export type KnownChange = { set: ChangeSet; node: Pick<CodeNode, 'path' | 'qualifiedName'> }

const readsAtOnce = 16

/**
 * Reads what is needed to make commits of a patch. `known` are changes as the caller has read them, and those of earlier runs in the patch.
 * PUBLISH_001 when a change set is not there any more.
 */
export async function readPublishable(
  run: Run,
  composition: Composition,
  { ledger, records }: PublishableDeps,
  known: readonly KnownChange[] = [],
): Promise<Publishable> {
  const { projectId, snapshotId } = run
  const ids = [...new Set(changedFiles(composition).flatMap(({ changeSetIds }) => changeSetIds))]
  const places = await placesOfSets(ids, run, ledger)
  const hashes = [...new Set(Array.from(places.values(), ({ recordHash }) => recordHash))]
  const read = await mapBounded(hashes, readsAtOnce, (hash) => records.readChangeSets(projectId, hash))
  const besides = known.map(({ set }) => set)
  const sets = new Map([...read.flat(), ...besides].map((set) => [set.changeSetId, set]))
  const missing = ids.find((id) => !sets.has(id))
  if (missing !== undefined) throw new AppError('PUBLISH_001', `Change set ${missing} of the patch is not there.`)
  const snapshot = snapshotId === null ? undefined : await records.readSnapshot(projectId, snapshotId)
  const bundleHashes = run.bundleHashes ?? []
  const bundles = await mapBounded(bundleHashes, readsAtOnce, (hash) => records.readBundle(projectId, hash))
  return {
    run,
    composition,
    sets,
    nodes: new Map([
      ...Array.from(places, ([id, { node }]) => [id, node] as const),
      ...known.map(({ set, node }) => [set.changeSetId, node] as const),
    ]),
    descriptions: new Map(bundles.map(({ file }) => [file.name, file.description])),
    after: new Map(bundles.map(({ file }) => [file.name, awaitedBundles(file)])),
    isExecutable: (path) => snapshot?.find(path)?.executable === true,
    readBlob: (hash) => records.readBlob(projectId, hash),
  }
}
