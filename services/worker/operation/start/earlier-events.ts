import { operationId, type NodeId, type OperationId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { ContextEvent } from '../../context/context-event.ts'
import type { RunFacts } from './run-facts.ts'

type EndedOperation = Awaited<ReturnType<Ledger['endedOperations']>>[number]

/** So many operations are asked about at most, those on the closest nodes first. */
const maxAsked = 64

/**
 * How operations ended that came before an attempt, as the events that said so: those of its run on these nodes and, when
 * the run tries another one again, how the same operation ended there. One round trip; none where there is nothing to ask.
 */
export async function earlierEvents(
  attempt: Pick<Attempt, 'runId' | 'operationId'>,
  nodeIds: readonly NodeId[],
  { bundles, retryOf }: Pick<RunFacts, 'bundles' | 'retryOf'>,
  ledger: Pick<Ledger, 'endedOperations'>,
): Promise<ContextEvent[]> {
  const ids = nodeIds.flatMap((node) => bundles.map((bundle): OperationId => operationId(node, bundle)))
  const others = ids.filter((id) => id !== attempt.operationId).slice(0, maxAsked)
  const [here, before] = await Promise.all([
    others.length === 0 ? [] : ledger.endedOperations(attempt.runId, others),
    retryOf === undefined ? [] : ledger.endedOperations(retryOf, [attempt.operationId]),
  ])
  return [...before, ...here].map(endedEvent)
}

/** As settle.ts writes it. */
function endedEvent({ operationId: id, bundle, node, outcome }: EndedOperation): ContextEvent {
  const { status, summary, reason, errorCode } = outcome
  const isBad = status === 'failed' || status === 'blocked'
  return {
    event: 'operation.ended',
    operationId: id,
    nodeId: node.nodeId,
    agent: bundle,
    status: isBad ? 'error' : 'ok',
    ...(errorCode === undefined ? {} : { errorCode }),
    data: { path: node.path, qualified_name: node.qualifiedName, status, summary, reason, error_code: errorCode },
  }
}
