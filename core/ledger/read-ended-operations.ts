import { z } from 'zod'
import { CodeNode } from '#domain/code-node.ts'
import type { OperationId, RunId } from '#domain/ids.ts'
import { Outcome, type Operation } from '#domain/operation.ts'
import { runKeys } from './keys.ts'
import type { LedgerStore } from './store.ts'

export type EndedOperation = Pick<Operation, 'runId' | 'operationId' | 'bundle' | 'node'> & {
  endedAt: number
  outcome: Outcome
}

/** Of an operation that has not ended, or is none, the last two are null. */
const Fields = z.tuple([z.string(), z.string().transform(Number), z.string()])

/**
 * Of these operations those that have ended, in the order in which they did. What is no operation of the run, or of no
 * run, is not among them. All are asked for at once: for tens of them, not for a run's.
 */
export async function endedOperations(
  { redis, namespace }: LedgerStore,
  runId: RunId,
  operationIds: readonly OperationId[],
): Promise<EndedOperation[]> {
  if (operationIds.length === 0) return []
  const keys = runKeys(namespace, runId)
  const [nodes, ...read] = await Promise.all([
    redis.mget(operationIds.map(keys.node)),
    ...operationIds.map((id) => redis.hmget(keys.operation(id), 'bundle', 'ended', 'outcome')),
  ])
  const ended = operationIds.flatMap((operationId, at): EndedOperation[] => {
    const fields = Fields.safeParse(read[at])
    if (!fields.success) return []
    const [bundle, endedAt, outcome] = fields.data
    const node = CodeNode.parse(JSON.parse(nodes[at] ?? 'null'))
    return [{ runId, operationId, bundle, node, endedAt, outcome: Outcome.parse(JSON.parse(outcome)) }]
  })
  return ended.toSorted((one, other) => one.endedAt - other.endedAt)
}
