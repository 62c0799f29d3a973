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

const Fields = z.tuple([z.string(), z.coerce.number(), z.string()])

/**
 * Of these operations those that have ended, in the order in which they did. What is no operation of the run, or of no
 * run, is not among them. All are asked for at once: for tens of them, not for a run's.
 */
export async function endedOperations(
  store: LedgerStore,
  runId: RunId,
  operationIds: readonly OperationId[],
): Promise<EndedOperation[]> {
  const read = await Promise.all(operationIds.map((id) => readEnded(store, runId, id)))
  const ended = read.filter((operation) => operation !== undefined)
  return ended.toSorted((one, other) => one.endedAt - other.endedAt)
}

async function readEnded(
  { redis, namespace }: LedgerStore,
  runId: RunId,
  operationId: OperationId,
): Promise<EndedOperation | undefined> {
  const keys = runKeys(namespace, runId)
  const [values, node] = await Promise.all([
    redis.hmget(keys.operation(operationId), 'bundle', 'ended', 'outcome'),
    redis.get(keys.node(operationId)),
  ])
  if (node === null || values.includes(null)) return undefined
  const [bundle, endedAt, outcome] = Fields.parse(values)
  const told = { node: CodeNode.parse(JSON.parse(node)), outcome: Outcome.parse(JSON.parse(outcome)) }
  return { runId, operationId, bundle, endedAt, ...told }
}
