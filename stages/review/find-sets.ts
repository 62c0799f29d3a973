import type { ChangeSet } from '#domain/change-set.ts'
import type { OperationId, RunId } from '#domain/ids.ts'
import type { Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Composition } from '#store/objects/composition.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { mapBounded } from '#platform/map-bounded.ts'

export type FindDeps = { ledger: Pick<Ledger, 'getOperation' | 'operationsOfSets'> }

/** Names the operation that made a change set, and the record that holds it. */
export type FoundSet = { operation: Operation; recordHash: string }

/** Reads what the object store has of the changes of runs. */
export type ChangeRecords = {
  readBlob(projectId: string, hash: string): Promise<Uint8Array>
  readChangeSets(projectId: string, recordHash: string): Promise<readonly ChangeSet[]>
  /** Null while the run is not composed. `key`: of a patch that was composed later. */
  readComposition(run: Run, key?: string): Promise<Composition | null>
  readSnapshot(projectId: string, snapshotId: string): Promise<SnapshotView>
}

/** The ledger is asked about so many sets at once. */
export const lookupLength = 1_000
const readsAtOnce = 32

/** Finds the operations that made these change sets, each the last that did; a set that the run has not made is left out. */
export async function findSets(
  { runId }: Pick<Run, 'runId'>,
  ids: readonly string[],
  { ledger }: FindDeps,
): Promise<Map<string, FoundSet>> {
  const sets = new Map<string, FoundSet>()
  await mapBounded([...(await makersOf(runId, ids, ledger))], readsAtOnce, async ([id, operationId]) => {
    const operation = await ledger.getOperation(runId, operationId)
    const recordHash = operation.outcome?.recordHash
    if (recordHash !== undefined) sets.set(id, { operation, recordHash })
  })
  return sets
}

export async function makersOf(
  runId: RunId,
  ids: readonly string[],
  ledger: Pick<Ledger, 'operationsOfSets'>,
): Promise<Map<string, OperationId>> {
  const makers = new Map<string, OperationId>()
  for (let first = 0; first < ids.length; first += lookupLength) {
    const slice = ids.slice(first, first + lookupLength)
    const operations = await ledger.operationsOfSets(runId, slice)
    for (const [at, id] of slice.entries()) if (operations[at] !== undefined) makers.set(id, operations[at])
  }
  return makers
}
