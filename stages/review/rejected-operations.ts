import type { Decision } from '#domain/decision.ts'
import { type OperationId, repeatedOperationId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation, originalId } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { endedInSlices, type EndedOperation } from '#store/ledger/read-operations.ts'

/** A retry repeats no more operations. */
export const mostOperations = 1_000

/** Is true for a rejection with a reason, which an agent is to be told. */
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
  return ofAgents(found)
}

/** The rejections of an agent's work. */
export function ofAgents(found: readonly { decision: Decision; operation: Operation }[]): Decision[] {
  return found.flatMap(({ decision, operation }) => (operation.work === 'agent' ? [decision] : []))
}

/**
 * The rejections that no try has taken into account yet, with their operations. Such a rejection is of a change set of the last try that had
 * ended by then, in any run of `chain`, and no try has begun after it: that one's agent would have been given the reason. A try that was
 * running at that time was not given it, and so does not count.
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

/** Is true when the operation ended after `at` and began before it, or never began: it knew nothing of what was said then. */
function isUntold({ begunAt, endedAt }: EndedOperation, at: number): boolean {
  return endedAt > at && (begunAt === null || begunAt <= at)
}

/** Looks up how each run of the chain that tried the work of an operation, in either form, ended it; the newest run first. */
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
