import type { Decision } from '#domain/decision.ts'
import { type OperationId, repeatedOperationId } from '#domain/ids.ts'
import { type Operation, originalId, replacedBy } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Decisions, VerdictCounts } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices } from '#store/ledger/read-operations.ts'

type Maker = Pick<Operation, 'operationId' | 'repeats'>

/** The newest run of `chain` comes first; `at` is the place in it of the run that the makers are of. */
type MadeIn = { chain: readonly Pick<Run, 'runId'>[]; at: number }

/**
 * Tells which change sets that these operations have made nobody is to look at any more: those whose work a later run of the chain
 * has done again, and those that were made once more since they collided, by their own run or a later one. What a later run makes
 * just as it was before is made by that run, whatever became of the earlier one.
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

/**
 * Counts by agent what is decided on the sets of a chain, newest run first, while that is not composed. What a run is asked to make
 * again counts only if it is accepted, as it will when the run is composed, or if that run has made it just so.
 */
export async function verdictsInChain(
  chain: readonly Pick<Run, 'runId' | 'request'>[],
  { byChangeSet }: Pick<Decisions, 'byChangeSet'>,
  ledger: Pick<Ledger, 'operationsOfSets'>,
): Promise<Map<string, VerdictCounts>> {
  const asked = chain.map(({ request }) => isRepeatedBy(request.operations ?? []))
  const isCounted = ({ verdict, operationId }: Decision, madeAt: number) =>
    madeAt >= 0 && (verdict === 'accepted' || !asked.slice(0, madeAt).some((repeats) => repeats(operationId)))
  const counted: Decision[] = []
  const others: Decision[] = []
  for (const one of byChangeSet.values()) {
    if (one.verdict === 'pending') continue
    const at = chain.findIndex(({ runId }) => runId === one.runId)
    if (isCounted(one, at)) counted.push(one)
    else others.push(one)
  }
  const ids = others.map(({ changeSetId }) => changeSetId)
  const makers = await Promise.all(chain.map(({ runId }) => ledger.operationsOfSets(runId, ids)))
  for (const [at, one] of others.entries()) {
    const newest = makers.findIndex((ofRun) => ofRun[at] !== undefined)
    if (isCounted(one, newest)) counted.push(one)
  }
  return countByAgent(counted)
}

/** Tells of an operation whether a run that is to repeat `operations` does its work, in either of its forms. */
function isRepeatedBy(operations: readonly OperationId[]): (operationId: OperationId) => boolean {
  const asked = new Set([...operations, ...operations.map(repeatedOperationId)])
  return (id) => asked.has(id) || asked.has(repeatedOperationId(id))
}

function countByAgent(decisions: readonly Decision[]): Map<string, VerdictCounts> {
  const counts = new Map<string, VerdictCounts>()
  for (const { agent, verdict } of decisions) {
    const { accepted, rejected } = counts.get(agent) ?? { accepted: 0, rejected: 0 }
    const isAccepted = verdict === 'accepted'
    counts.set(agent, { accepted: accepted + (isAccepted ? 1 : 0), rejected: rejected + (isAccepted ? 0 : 1) })
  }
  return counts
}
