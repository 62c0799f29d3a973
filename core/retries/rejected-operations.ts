import type { Decision } from '#domain/decision.ts'
import { type OperationId, repeatedOperationId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation, originalId } from '#domain/operation.ts'
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
 * The rejections whose operation an agent may try again: those of `rejectedSinceLastTry` without mechanical work, which would only
 * make the same change again.
 */
export async function repeatable(
  chain: readonly Run[],
  rejected: readonly Decision[],
  ledger: TriesLedger,
): Promise<Decision[]> {
  const found = await rejectedSinceLastTry(chain, rejected, ledger)
  return found.flatMap(({ decision, operation }) => (operation.work === 'agent' ? [decision] : []))
}

/**
 * The rejections with their operations. The rejected change set must come from the last try that had ended, in any run of `chain`,
 * when it was rejected. No other try may have begun since then, because the agent of that one was told of the rejection. A try that
 * was going on at that time does not count, as it knew nothing of the rejection.
 */
export async function rejectedSinceLastTry(
  chain: readonly Run[],
  rejected: readonly Decision[],
  ledger: TriesLedger,
): Promise<{ decision: Decision; operation: Operation }[]> {
  const triesOf = await openTries(chain, new Set(rejected.map(({ operationId }) => operationId)), ledger)
  const found: { decision: Decision; operation: Operation }[] = []
  const operations = new Map<OperationId, Operation>()
  for (const decision of rejected) {
    const { operationId, changeSetId, at } = decision
    const last = triesOf(operationId).find((tries) => !tries.every((one) => isUntold(one, at)))
    // There is none where that run did the work in another form: itself, or once more on top of what it collided with.
    const ended = last?.find((one) => one.operationId === operationId)
    if (ended === undefined || ended.endedAt > at || !changeSetIdsOf(ended.outcome).includes(changeSetId)) continue
    const operation = operations.get(operationId) ?? (await ledger.getOperation(ended.runId, operationId))
    operations.set(operationId, operation)
    found.push({ decision, operation })
  }
  return found
}

/** Whether the operation went on, or never began, and knew nothing of what was said `at` that time. */
function isUntold({ begunAt, endedAt }: EndedOperation, at: number): boolean {
  return endedAt > at && (begunAt === null || begunAt <= at)
}

/** How each run of the chain that tried the work of an operation, in either form, ended it; the newest run first. */
async function openTries(
  chain: readonly Run[],
  ids: ReadonlySet<OperationId>,
  ledger: TriesLedger,
): Promise<(operationId: OperationId) => readonly (readonly EndedOperation[])[]> {
  const rootOf = new Map([...ids].map((id) => [id, id]))
  for (const { runId } of chain) {
    for (const one of await endedInSlices(runId, [...ids], ledger))
      if (one.repeats) rootOf.set(one.operationId, originalId(one))
  }
  const forms = [...new Set(rootOf.values())].flatMap((id) => [id, repeatedOperationId(id)])
  const tries = new Map<OperationId, EndedOperation[][]>()
  for (const { runId } of chain) {
    const ended = Map.groupBy(await endedInSlices(runId, forms, ledger), originalId)
    for (const [root, tried] of ended) tries.set(root, [...(tries.get(root) ?? []), tried])
  }
  return (operationId) => tries.get(rootOf.get(operationId) ?? operationId) ?? []
}
