import { replacedSets } from '#change-sets/sets-of-run.ts'
import { recordIds } from '#domain/ids.ts'
import { type Operation, originalId } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices } from '#store/ledger/read-operations.ts'

/** Returns those change sets of these operations' work that nobody is to look at any more, since a later record has made them anew. */
export async function redoneAmong(
  makers: readonly Pick<Operation, 'operationId' | 'repeats'>[],
  { runId, generation }: Pick<Run, 'runId' | 'generation'>,
  ledger: Pick<Ledger, 'endedOperations'>,
): Promise<ReadonlySet<string>> {
  if (generation === 1) return new Set()
  const ids = [...new Set(makers.map(originalId))].flatMap((id) => recordIds(id, generation))
  const ended = await endedInSlices(runId, ids, ledger)
  return replacedSets(ended.toSorted((one, other) => one.generation - other.generation))
}
