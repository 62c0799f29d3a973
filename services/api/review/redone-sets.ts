import { repeatedOperationId } from '#domain/ids.ts'
import { type Operation, originalId, replacedBy } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { endedInSlices } from '#ledger/read-operations.ts'

type Maker = Pick<Operation, 'operationId' | 'repeats'>

/** `chain`: newest first; `at`: the place of the run in it of which the makers are. */
type MadeIn = { chain: readonly Pick<Run, 'runId'>[]; at: number }

/**
 * Which change sets that these operations have made nobody is to look at any more: those whose work a later run of the chain has done
 * again, and those that were made once more since they collided, by their own run or a later one. What a later run makes just as
 * it was before is made by that run, whatever became of the earlier one.
 */
export async function redoneAmong(
  makers: readonly Maker[],
  { chain, at }: MadeIn,
  ledger: Pick<Ledger, 'endedOperations'>,
): Promise<(changeSetId: string, maker: Maker) => boolean> {
  const roots = [...new Set(makers.map(originalId))]
  const repeats = roots.map(repeatedOperationId)
  const ended = await Promise.all(
    chain
      .slice(0, at + 1)
      .map(({ runId }, place) => endedInSlices(runId, place < at ? [...roots, ...repeats] : repeats, ledger)),
  )
  const replaced = new Set(
    ended.flat().flatMap(({ outcome: { status }, repeats: work }) => replacedBy({ status, repeats: work })),
  )
  const again = new Set(ended.slice(0, at).flatMap((later) => later.map(({ operationId }) => operationId)))
  return (changeSetId, maker) => replaced.has(changeSetId) || again.has(originalId(maker))
}
