import type { OperationId, RunId } from '#domain/ids.ts'
import type { RunRequest } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'

const pageSize = 500
const well = new Set<string>(['succeeded', 'unchanged'])

/**
 * The operations a retry is about: those its request names, else those that did not end well in the nearest run before it
 * whose plan was complete; a retry on the way there that came to no plan had its own. Undefined: all there are, as for a
 * run that is no retry, or where no run before it was planned to the end.
 */
export async function operationsToRetry(
  { retryOf, operations }: Pick<RunRequest, 'retryOf' | 'operations'>,
  ledger: Pick<Ledger, 'getRun' | 'listOperations'>,
): Promise<ReadonlySet<OperationId> | undefined> {
  if (operations !== undefined) return new Set(operations)
  if (retryOf === undefined) return undefined
  const former = await ledger.getRun(retryOf)
  return former.isPlanned ? notEndedWell(retryOf, ledger) : operationsToRetry(former.request, ledger)
}

async function notEndedWell(runId: RunId, ledger: Pick<Ledger, 'listOperations'>): Promise<Set<OperationId>> {
  const wanted = new Set<OperationId>()
  for (let cursor: string | null = '0'; cursor !== null;) {
    const page = await ledger.listOperations(runId, { cursor, limit: pageSize })
    for (const { operationId, status } of page.operations) if (!well.has(status)) wanted.add(operationId)
    cursor = page.next
  }
  return wanted
}
