import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { OperationId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation, replacedBy } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices } from '#store/ledger/read-operations.ts'
import { mapBounded } from '#platform/map-bounded.ts'

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
  return mapBounded(changed, recordReads, async (operation) => ({
    ...operation,
    sets: await readSets(operation.recordHash),
  }))
}

type SetPlace = { operationId: OperationId; node: CodeNode; recordHash: string }

const lookupLength = 1_000

/** Finds where the run has made these sets; those that it has not made are left out. */
export async function placesOfSets(
  ids: readonly string[],
  { runId }: Pick<Run, 'runId'>,
  ledger: Pick<Ledger, 'endedOperations' | 'operationsOfSets'>,
): Promise<Map<string, SetPlace>> {
  const places = new Map<string, SetPlace>()
  const makers: OperationId[] = []
  for (let first = 0; first < ids.length; first += lookupLength) {
    const operations = await ledger.operationsOfSets(runId, ids.slice(first, first + lookupLength))
    makers.push(...operations.flatMap((id) => id ?? []))
  }
  for (const { operationId, node, outcome } of await endedInSlices(runId, [...new Set(makers)], ledger)) {
    const { recordHash } = outcome
    if (recordHash === undefined) continue
    for (const id of changeSetIdsOf(outcome)) places.set(id, { operationId, node, recordHash })
  }
  return places
}

/** Returns the sets that later records of their work, in the order of generations, have made anew or found needless. */
export function replacedSets(records: Iterable<Pick<Operation, 'repeats' | 'outcome'>>): Set<string> {
  const replaced = new Set<string>()
  for (const record of records) {
    for (const id of replacedBy(record)) replaced.add(id)
    for (const id of record.outcome === null ? [] : changeSetIdsOf(record.outcome)) replaced.delete(id)
  }
  return replaced
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
