import type { OperationId } from '#domain/ids.ts'
import type { RunRequest } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'

const pageSize = 500
const well = new Set<string>(['succeeded', 'unchanged'])

/**
 * The operations a retry is about: those its request names, else those of the run it tries again that did not end well.
 * Undefined for a run that is no retry, and for one of a run that had not come to its operations: all of them, then.
 */
export async function operationsToRetry(
  { retryOf, operations }: Pick<RunRequest, 'retryOf' | 'operations'>,
  ledger: Pick<Ledger, 'listOperations'>,
): Promise<ReadonlySet<OperationId> | undefined> {
  if (operations !== undefined) return new Set(operations)
  if (retryOf === undefined) return undefined
  const wanted = new Set<OperationId>()
  let known = 0
  for (let cursor: string | null = '0'; cursor !== null;) {
    const page = await ledger.listOperations(retryOf, { cursor, limit: pageSize })
    known += page.operations.length
    for (const { operationId, status } of page.operations) if (!well.has(status)) wanted.add(operationId)
    cursor = page.next
  }
  return known === 0 ? undefined : wanted
}
