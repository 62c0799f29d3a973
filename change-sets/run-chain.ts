import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { OperationId, RunId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices } from '#store/ledger/read-operations.ts'
import { mapBounded } from '#store/objects/map-bounded.ts'

/**
 * The run, the one that it retries, the one that that retries and so on, as long as they are over the same snapshot: the
 * patch of the first has changes of all of them, and the last keeps the decisions on these.
 */
export async function chainOf(run: Run, ledger: Pick<Ledger, 'getRun'>): Promise<[Run, ...Run[]]> {
  const chain: [Run, ...Run[]] = [run]
  let { snapshotId } = run
  for (let { retryOf } = run.request; retryOf !== undefined;) {
    const earlier = await ledger.getRun(retryOf) // kept as long as a run that retries it
    // Without a snapshot it has just been accepted, or was cancelled before it had one: it is on the same upload.
    snapshotId ??= earlier.snapshotId
    if (earlier.snapshotId !== null && earlier.snapshotId !== snapshotId) return chain
    chain.push(earlier)
    retryOf = earlier.request.retryOf
  }
  return chain
}

const recordReads = 16

/** Reads what these operations have changed, in their order; those that changed nothing are left out. */
export async function changesOf(
  operations: readonly Operation[],
  readSets: (recordHash: string) => Promise<readonly ChangeSet[]>,
): Promise<{ operation: Operation; recordHash: string; sets: readonly ChangeSet[] }[]> {
  const changed = operations.flatMap((operation) => {
    const { outcome } = operation
    const hasSets = outcome !== null && changeSetIdsOf(outcome).length > 0
    return hasSets && outcome.recordHash !== undefined ? [{ operation, recordHash: outcome.recordHash }] : []
  })
  return mapBounded(changed, recordReads, async (one) => ({ ...one, sets: await readSets(one.recordHash) }))
}

type SetPlace = { runId: RunId; operationId: OperationId; node: CodeNode; recordHash: string }

const lookupLength = 1_000

/** Finds where the runs of the chain have made these sets; those that none of them has made are left out. */
export async function placesOfSets(
  ids: readonly string[],
  chain: readonly Pick<Run, 'runId'>[],
  ledger: Pick<Ledger, 'endedOperations' | 'operationsOfSets'>,
): Promise<Map<string, SetPlace>> {
  const places = new Map<string, SetPlace>()
  for (const { runId } of chain) {
    const makers: OperationId[] = []
    for (let first = 0; first < ids.length; first += lookupLength) {
      const found = await ledger.operationsOfSets(runId, ids.slice(first, first + lookupLength))
      makers.push(...found.flatMap((id) => id ?? []))
    }
    for (const { operationId, node, outcome } of await endedInSlices(runId, [...new Set(makers)], ledger)) {
      const { recordHash } = outcome
      if (recordHash === undefined) continue
      for (const id of changeSetIdsOf(outcome)) places.set(id, { runId, operationId, node, recordHash })
    }
  }
  return places
}

/** About what change sets take in memory, in bytes. */
export function sizeOfSets(sets: readonly ChangeSet[]): number {
  let bytes = 0
  for (const { files, evidence } of sets) {
    bytes += 1_000 + 300 * evidence.length
    for (const file of files) {
      if (file.kind === 'create') bytes += 2 * file.content.length
      if (file.kind === 'edit') for (const { text } of file.edits) bytes += 100 + 2 * text.length
    }
  }
  return bytes
}
