import type { Decision } from '#domain/decision.ts'
import { type OperationId, repeatedOperationId } from '#domain/ids.ts'
import { changeSetIdsOf, originalId } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { endedInSlices, type EndedOperation } from '#ledger/read-operations.ts'

/** A retry repeats no more operations. */
export const mostOperations = 1_000

/** What an agent is to be told: a rejection with a reason. */
export function isFeedback({ verdict, reason }: Pick<Decision, 'verdict' | 'reason'>): boolean {
  return verdict === 'rejected' && reason !== null
}

type TriesLedger = Pick<Ledger, 'endedOperations' | 'getOperation'>

/**
 * Those of these rejections whose operation an agent may try again: the set is of its last try in the runs of `chain`, and was rejected
 * after that. What a program makes it would make again as it is.
 */
export async function repeatable(
  chain: readonly Run[],
  rejected: readonly Decision[],
  ledger: TriesLedger,
): Promise<Decision[]> {
  const ids = new Set(rejected.map(({ operationId }) => operationId))
  const last = await lastTries(chain, ids, ledger)
  const found: Decision[] = []
  const works = new Map<OperationId, string>()
  for (const decision of rejected) {
    const { operationId, changeSetId, at } = decision
    const ended = last.get(operationId)
    if (ended === undefined || ended.endedAt > at || !changeSetIdsOf(ended.outcome).includes(changeSetId)) continue
    const work = works.get(operationId) ?? (await ledger.getOperation(ended.runId, operationId)).work
    works.set(operationId, work)
    if (work === 'agent') found.push(decision)
  }
  return found
}

/**
 * Each operation as it ended in the newest run of the chain that tried its work. There is none where that run did the work in another
 * form: itself, or once more on top of what it collided with.
 */
async function lastTries(
  chain: readonly Run[],
  ids: ReadonlySet<OperationId>,
  ledger: TriesLedger,
): Promise<Map<OperationId, EndedOperation>> {
  const roots = new Set(ids)
  for (const { runId } of chain) {
    for (const { repeats } of await endedInSlices(runId, [...ids], ledger)) if (repeats) roots.add(repeats.operationId)
  }
  const forms = [...roots].flatMap((id) => [id, repeatedOperationId(id)])
  const last = new Map<OperationId, EndedOperation[]>()
  for (const { runId } of chain.toReversed()) {
    const ended = Map.groupBy(await endedInSlices(runId, forms, ledger), originalId)
    for (const [root, tried] of ended) last.set(root, tried)
  }
  return new Map([...last.values()].flat().map((one) => [one.operationId, one]))
}
