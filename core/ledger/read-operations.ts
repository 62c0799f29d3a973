import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { OperationId, RunId } from '#domain/ids.ts'
import { Operation, type OperationStatus } from '#domain/operation.ts'
import { runKeys } from './keys.ts'
import { getRun } from './read-run.ts'
import type { LedgerStore } from './store.ts'

const fields = [
  'bundle',
  'hash',
  'rank',
  'status',
  'attempt',
  'dispatch',
  'lost',
  'left',
  'started',
  'ended',
  'outcome',
  'question',
  'suspension',
  'work',
] as const
const text = z.string().nullable()
const count = z
  .string()
  .nullable()
  .transform((value) => Number(value ?? 0))
const Fields = z.tuple([
  z.string(),
  z.string(),
  count,
  text,
  count,
  count,
  count,
  count,
  text,
  text,
  text,
  text,
  text,
  text,
])
/** plan.lua: rank = priority × this + place in the plan. */
const rankUnit = 1e9
const statusSlice = 1_000

/** RUN_001 when there is no such run, RUN_004 when it has no such operation. */
export async function getOperation(store: LedgerStore, runId: RunId, operationId: OperationId): Promise<Operation> {
  const keys = runKeys(store.namespace, runId)
  if ((await store.redis.exists(keys.operation(operationId))) === 1) return readOperation(store, runId, operationId)
  await getRun(store, runId)
  throw new AppError('RUN_004', `Run "${runId}" has no operation "${operationId}".`)
}

export type OperationPage = {
  operations: Operation[]
  /** Where the next page starts; null when this was the last. */
  next: string | null
}

/**
 * Operations in the order of the plan, `limit` to a page. With `status`, those that have it when the page is read; the
 * page is full unless it is the last, which takes a walk over the ids in slices, never a scan of keys.
 */
export async function listOperations(
  store: LedgerStore,
  runId: RunId,
  page: { status?: OperationStatus; cursor?: string; limit: number },
): Promise<OperationPage> {
  const keys = runKeys(store.namespace, runId)
  const sliceLength = page.status === undefined ? page.limit : statusSlice
  const operations: Operation[] = []
  let position = z.coerce
    .number()
    .int()
    .min(0)
    .parse(page.cursor ?? '0')
  for (;;) {
    const ids = await store.redis.zrange(keys.operations, String(position), String(position + sliceLength - 1))
    const kept = page.status === undefined ? ids : await withStatus(store, runId, ids, page.status)
    const wanted = kept.slice(0, page.limit - operations.length)
    operations.push(...(await Promise.all(wanted.map((id) => readOperation(store, runId, id)))))
    const last = wanted.at(-1)
    if (operations.length >= page.limit && last !== undefined) {
      return { operations, next: String(position + ids.indexOf(last) + 1) }
    }
    if (ids.length < sliceLength) return { operations, next: null }
    position += ids.length
  }
}

async function withStatus(
  store: LedgerStore,
  runId: RunId,
  ids: readonly OperationId[],
  status: OperationStatus,
): Promise<OperationId[]> {
  const keys = runKeys(store.namespace, runId)
  const statuses = await Promise.all(ids.map((id) => store.redis.hget(keys.operation(id), 'status')))
  return ids.filter((_, index) => statuses[index] === status)
}

async function readOperation(store: LedgerStore, runId: RunId, operationId: OperationId): Promise<Operation> {
  const keys = runKeys(store.namespace, runId)
  const [values, node] = await Promise.all([
    store.redis.hmget(keys.operation(operationId), ...fields),
    store.redis.get(keys.node(operationId)),
  ])
  const [bundle, bundleHash, rank, status, attempt, dispatch, lost, left, started, ended, outcome, ...asked] =
    Fields.parse(values)
  const [question, suspension, work] = asked
  return Operation.parse({
    operationId,
    runId,
    bundle,
    bundleHash,
    node: JSON.parse(node ?? 'null'),
    work: work ?? 'agent',
    priority: Math.floor(rank / rankUnit),
    status,
    attempt,
    dispatch,
    lost,
    dependenciesLeft: left,
    startedAt: started === null ? null : Number(started),
    endedAt: ended === null ? null : Number(ended),
    outcome: outcome === null ? null : JSON.parse(outcome),
    waitsFor: status === 'waiting' ? question : null,
    suspensionHash: suspension,
  })
}
