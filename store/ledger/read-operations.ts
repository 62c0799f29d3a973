import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { OperationId, RunId } from '#domain/ids.ts'
import { Operation, type OperationStatus, Outcome, RepeatedWork } from '#domain/operation.ts'
import { CodeNode } from '#domain/code-node.ts'
import { runKeys } from './keys.ts'
import { getRun } from './read-runs.ts'
import { pairsOf } from './script.ts'
import type { LedgerStore } from './store.ts'

const text = z.string().nullable()
const number = text.transform((value) => Number(value ?? 0))
const time = text.transform((value) => (value === null ? null : Number(value)))
const StoredOperation = z.object({
  bundle: z.string(),
  hash: z.string(),
  rank: number,
  status: text,
  attempt: number,
  dispatch: number,
  lost: number,
  left: number,
  started: time,
  begun: time,
  ended: time,
  outcome: text,
  question: text,
  suspension: text,
  work: text,
  on: text,
  repeats: text,
  gen: time,
  superseded: text,
  past: text,
  item: text,
})
const fields = Object.keys(StoredOperation.shape)
/** plan.lua: rank = priority × this + place in the plan. */
const rankUnit = 1e9
const statusSlice = 1_000
const Cursor = z.coerce.number().int().min(0)

/** Throws RUN_001 when there is no such run, RUN_004 when it has no such operation. */
export async function getOperation(store: LedgerStore, runId: RunId, operationId: OperationId): Promise<Operation> {
  const keys = runKeys(store.namespace, runId)
  if ((await store.redis.exists(keys.operation(operationId))) === 1) return readOperation(store, runId, operationId)
  await getRun(store, runId)
  throw new AppError('RUN_004', `Run "${runId}" has no operation "${operationId}".`)
}

export type OperationPage = { operations: Operation[]; next: string | null }

/** `allRecords`: with a status also those whose work was planned once more. */
type PageRequest = { status?: OperationStatus; allRecords?: boolean; cursor?: string; limit: number }

/**
 * Lists operations in plan order, `limit` to a page. With `status`, those that have it now, by default without superseded
 * records; a page is full unless it is the last. Failed and blocked ones have indexes; others take a walk over the ids, never a
 * scan of keys.
 */
export async function listOperations(store: LedgerStore, runId: RunId, page: PageRequest): Promise<OperationPage> {
  const { status } = page
  if (status === 'failed' || status === 'blocked') {
    return listIndexed(store, runId, { ...page, index: status })
  }
  const keys = runKeys(store.namespace, runId)
  const sliceLength = page.status === undefined ? page.limit : statusSlice
  const operations: Operation[] = []
  let position = Cursor.parse(page.cursor ?? '0')
  for (;;) {
    const ids = await store.redis.zrange(keys.operations, String(position), String(position + sliceLength - 1))
    const kept = page.status === undefined ? ids : await withStatus(store, runId, ids, { ...page, status: page.status })
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

/** Operations that reported findings, in the order of the plan. */
export function listReported(store: LedgerStore, runId: RunId, page: { cursor?: string; limit: number }) {
  return listIndexed(store, runId, { ...page, index: 'reported' })
}

async function listIndexed(
  store: LedgerStore,
  runId: RunId,
  { index, cursor = '0', limit }: PageRequest & { index: 'failed' | 'blocked' | 'reported' },
): Promise<OperationPage> {
  const first = Cursor.parse(cursor)
  const key = runKeys(store.namespace, runId)[index]
  const read = pairsOf(await store.redis.zrangebyscore(key, first, '+inf', 'WITHSCORES', 'LIMIT', 0, limit))
  const operations = await Promise.all(read.map(([id]) => readOperation(store, runId, id)))
  const [, last] = read.length < limit ? [] : (read.at(-1) ?? [])
  return { operations, next: last === undefined ? null : String(Number(last) + 1) }
}

export type FailureCount = {
  /** Is null for operations that ended without one. */
  errorCode: string | null
  count: number
  /** One of them: as long as that is not superseded, the one that ended first. */
  first: Operation
}

/** Counts failed and blocked operations by error code, the commonest first, at a cost that does not grow with the run. */
export async function countFailures(store: LedgerStore, runId: RunId): Promise<FailureCount[]> {
  const counters = await readFailureCounters(store, runId)
  const sorted = counters.toSorted((left, right) => right.count - left.count || (left.code < right.code ? -1 : 1))
  return Promise.all(
    sorted.map(async ({ code, count, first }) => {
      return { errorCode: code === '' ? null : code, count, first: await readOperation(store, runId, first) }
    }),
  )
}

/** Holds what end_operation (transitions.lua) counts; `code` is empty for operations that ended without one. */
export type FailureCounter = { code: string; count: number; first: OperationId }

export async function readFailureCounters({ redis, namespace }: LedgerStore, runId: RunId): Promise<FailureCounter[]> {
  const stored = await redis.hgetall(runKeys(namespace, runId).failures)
  return Object.entries(stored).flatMap(([code, count]) => {
    const first = stored[`${code}:first`]
    return first === undefined ? [] : [{ code, count: Number(count), first }]
  })
}

async function withStatus(
  store: LedgerStore,
  runId: RunId,
  ids: readonly OperationId[],
  { status, allRecords = false }: Pick<PageRequest, 'allRecords'> & { status: OperationStatus },
) {
  const keys = runKeys(store.namespace, runId)
  const rows = await Promise.all(ids.map((id) => store.redis.hmget(keys.operation(id), 'status', 'superseded')))
  return ids.filter((_, index) => rows[index]?.[0] === status && (allRecords || rows[index][1] === null))
}

async function readOperation(store: LedgerStore, runId: RunId, operationId: OperationId): Promise<Operation> {
  const keys = runKeys(store.namespace, runId)
  const [values, node] = await Promise.all([
    store.redis.hmget(keys.operation(operationId), ...fields),
    store.redis.get(keys.node(operationId)),
  ])
  const stored = StoredOperation.parse(Object.fromEntries(fields.map((field, at) => [field, values[at]])))
  const { bundle, rank, status, attempt, dispatch, lost } = stored
  return Operation.parse({
    operationId,
    runId,
    bundle,
    bundleHash: stored.hash,
    node: JSON.parse(node ?? 'null'),
    work: stored.work ?? 'agent',
    priority: Math.floor(rank / rankUnit),
    status,
    attempt,
    dispatch,
    lost,
    dependenciesLeft: stored.left,
    startedAt: stored.started,
    begunAt: stored.begun ?? stored.started,
    endedAt: stored.ended,
    outcome: JSON.parse(stored.outcome ?? 'null'),
    waitsFor: status === 'waiting' && stored.question !== 'tool' ? stored.question : null,
    suspensionHash: stored.suspension,
    startsFrom: stored.on?.split(' ') ?? [],
    generation: stored.gen ?? 1,
    itemId: stored.item,
    repeats: JSON.parse(stored.repeats ?? 'null'),
    supersededBy: stored.superseded,
    keptAttempts: stored.past?.split(' ').map(Number) ?? [],
  })
}

export type EndedOperation = Pick<Operation, 'runId' | 'operationId' | 'generation' | 'bundle' | 'node'> & {
  /** Says when the attempt started from whose prompts it was made; null for one that never started. */
  begunAt: number | null
  endedAt: number
  outcome: Outcome
  repeats: RepeatedWork | null
}

/** All are null when there is no such operation; the second and the third for one that has not ended. */
const EndedFields = z.tuple([z.string(), z.string().transform(Number), z.string(), text, time, time, time])

/** Returns those of these operations that have ended, in that order. All are read at once: for tens of them, not for a whole run. */
export async function endedOperations({ redis, namespace }: LedgerStore, runId: RunId, ids: readonly OperationId[]) {
  if (ids.length === 0) return []
  const keys = runKeys(namespace, runId)
  const [nodes, ...read] = await Promise.all([
    redis.mget(ids.map(keys.node)),
    ...ids.map((id) =>
      redis.hmget(keys.operation(id), 'bundle', 'ended', 'outcome', 'repeats', 'started', 'begun', 'gen'),
    ),
  ])
  const ended = ids.flatMap((operationId, at): EndedOperation[] => {
    const stored = EndedFields.safeParse(read[at])
    if (!stored.success) return []
    const [bundle, endedAt, outcome, repeated, started, begun, generation] = stored.data
    const node = CodeNode.parse(JSON.parse(nodes[at] ?? 'null'))
    const repeats = RepeatedWork.nullable().parse(JSON.parse(repeated ?? 'null'))
    const how = { begunAt: begun ?? started, endedAt, outcome: Outcome.parse(JSON.parse(outcome)), repeats }
    return [{ runId, operationId, generation: generation ?? 1, bundle, node, ...how }]
  })
  return ended.toSorted((left, right) => left.endedAt - right.endedAt)
}

const sliceLength = 500

type EndedReader = { endedOperations(runId: RunId, ids: readonly OperationId[]): Promise<EndedOperation[]> }

/** Does the same as `endedOperations` for many: those of one slice come after those of the one before. */
export async function endedInSlices(runId: RunId, ids: readonly OperationId[], ledger: EndedReader) {
  const ended: EndedOperation[] = []
  for (let first = 0; first < ids.length; first += sliceLength) {
    ended.push(...(await ledger.endedOperations(runId, ids.slice(first, first + sliceLength))))
  }
  return ended
}

const pageLength = 500

type OperationLister = {
  listOperations(runId: RunId, page: { cursor?: string; limit: number }): Promise<OperationPage>
}

export async function* operationPages(ledger: OperationLister, runId: RunId): AsyncGenerator<readonly Operation[]> {
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await ledger.listOperations(runId, { limit: pageLength, ...(cursor === undefined ? {} : { cursor }) })
    yield page.operations
    cursor = page.next
  }
}
