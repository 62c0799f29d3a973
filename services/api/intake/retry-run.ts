import { chainOf } from '#composition/run-chain.ts'
import { AppError, hasCode, isErrorCode } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import { newRunId, type OperationId, type RunId, sha256 } from '#domain/ids.ts'
import { requireSameModel } from '#domain/model-kind.ts'
import { isEnded, type ErrorPolicyName, type Run, type RunRequest } from '#domain/run.ts'
import { changeSetIdsOf } from '#domain/operation.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { EndedOperation } from '#ledger/read-operations.ts'
import { unknownRun } from '#ledger/script.ts'
import { expectNotDeleted, hashedJson, withModelKind, type AcceptDeps } from './accept-run.ts'

export type Retry = {
  /** The run to retry. */
  run: Run
  /** Repeats only these of its operations; undefined: all that did not end well. */
  operations: readonly OperationId[] | undefined
  /** Instead of `operations`: repeats what failed or was blocked with one of these error codes. */
  codes?: readonly string[] | undefined
  /** Instead of both: repeats the operations whose last change set was rejected with a reason. */
  rejected?: boolean | undefined
  /** Replaces the former request's. */
  errorPolicy?: ErrorPolicyName | undefined
  idempotencyKey: string | undefined
  correlation: { requestId: string; traceparent: string | null }
}

export type RetryDeps = Pick<AcceptDeps, 'producer' | 'idempotency' | 'modelKind'> & {
  ledger: Pick<
    Ledger,
    | 'cancel'
    | 'countFailures'
    | 'createRun'
    | 'endedOperations'
    | 'getOperation'
    | 'getRun'
    | 'isBeingDeleted'
    | 'readDecisions'
  >
}

const notWell = ['failed', 'blocked', 'skipped', 'cancelled'] as const

/**
 * Starts a new run over the same upload that repeats what did not end well in `run`, which must have ended. Its patch also
 * has the changes that succeeded before. RUN_006 while the run is going on, INTAKE_007 when there is nothing to repeat or
 * no operation failed with one of the codes, RUN_004 for an operation that the run does not have, RUN_009 when its change
 * sets were made by another kind of model than this stack's, RUN_001 when the run is deleted at the same time.
 */
export async function retryRun(retry: Retry, deps: RetryDeps): Promise<{ runId: RunId; status: 'queued' }> {
  const { run, codes, errorPolicy, correlation } = retry
  if (!isEnded(run.status))
    throw new AppError('RUN_006', `Run "${run.runId}" has not ended: there is nothing to retry.`)
  requireSameModel({ runId: run.runId, labels: run.request.labels }, deps.modelKind)
  const operations = retry.rejected === true ? await rejectedOperations(run, deps.ledger) : retry.operations
  for (const id of retry.operations ?? []) await deps.ledger.getOperation(run.runId, id)
  if (codes !== undefined) await requireCodes(run, codes, deps.ledger)
  if (operations === undefined && !hasUnfinished(run)) {
    throw new AppError('INTAKE_007', `No operation of run "${run.runId}" failed: there is nothing to retry.`)
  }
  const { operations: _operations, codes: _codes, ...former } = run.request
  const request: RunRequest = {
    ...withModelKind(former, deps.modelKind),
    retryOf: run.runId,
    ...(errorPolicy === undefined ? {} : { errorPolicy }),
    ...(operations === undefined ? {} : { operations: [...operations] }),
    ...(codes === undefined ? {} : { codes: [...new Set(codes)].toSorted() }),
  }
  const runId = await idOf(retry, request, deps)
  const { projectId, uploadKey } = run
  const { requestId, traceparent } = correlation
  const data = { agents: request.agents, retry_of: run.runId }
  const origin = { kind: 'api', id: requestId } as const
  const acceptedEvent = { event: 'run.accepted', phase: 'snapshot', origin, data } as const
  const schema = await chainSchema(run, deps.ledger)
  await deps.ledger.createRun({ runId, projectId, request, uploadKey, traceparent, acceptedEvent, schema })
  await expectStillThere(run, { runId, origin }, deps.ledger)
  await deps.producer.add('snapshots', runId, { run_id: runId, traceparent })
  return { runId, status: 'queued' }
}

/** A request names no more operations. */
const mostOperations = 1_000

/**
 * The agents' operations, of the run or of one that it retries, whose last change set was rejected with a reason after they
 * ended. INTAKE_007 when there is none, INTAKE_003 for more than 1,000.
 */
async function rejectedOperations(run: Run, ledger: RetryDeps['ledger']): Promise<OperationId[]> {
  const chain = await chainOf(run, ledger)
  const { byChangeSet } = await ledger.readDecisions((chain.at(-1) ?? run).runId)
  const rejected = [...byChangeSet.values()].filter(({ verdict, reason }) => verdict === 'rejected' && reason !== null)
  const ids = [...new Set(rejected.map(({ operationId }) => operationId))]
  const last = new Map<OperationId, EndedOperation>()
  for (const { runId } of chain.toReversed()) {
    for (const ended of await endedInSlices(runId, ids, ledger)) last.set(ended.operationId, ended)
  }
  const found = new Set<OperationId>()
  for (const { operationId, changeSetId, at } of rejected) {
    const ended = last.get(operationId)
    if (ended === undefined || ended.endedAt > at || !changeSetIdsOf(ended.outcome).includes(changeSetId)) continue
    if ((await ledger.getOperation(ended.runId, operationId)).work === 'agent') found.add(operationId)
  }
  if (found.size === 0) {
    const message = `No agent's change of run "${run.runId}" was rejected with a reason since it was last tried.`
    throw new AppError('INTAKE_007', message)
  }
  if (found.size <= mostOperations) return [...found]
  throw new AppError(
    'INTAKE_003',
    `${found.size} operations were rejected with a reason: name ${mostOperations} at most.`,
  )
}

const sliceLength = 500

async function endedInSlices(
  runId: RunId,
  ids: readonly OperationId[],
  ledger: Pick<Ledger, 'endedOperations'>,
): Promise<EndedOperation[]> {
  const found: EndedOperation[] = []
  for (let first = 0; first < ids.length; first += sliceLength) {
    found.push(...(await ledger.endedOperations(runId, ids.slice(first, first + sliceLength))))
  }
  return found
}

/** The highest of the runs whose changes the retry of `run` has. */
async function chainSchema(run: Run, ledger: Pick<Ledger, 'getRun'>): Promise<number> {
  return Math.max(...(await chainOf(run, ledger)).map(({ schema }) => schema))
}

/** INTAKE_007 for a code that nothing failed with. Where not all failures are counted (read-operations.ts), planning finds out. */
async function requireCodes(run: Run, codes: readonly string[], ledger: RetryDeps['ledger']): Promise<void> {
  const failures = await ledger.countFailures(run)
  const missing = codes.find((code) => !failures.some(({ errorCode }) => errorCode === code))
  if (missing === undefined) return
  const counted = failures.reduce((sum, { count }) => sum + count, 0)
  const isWhole = counted >= (run.counts.failed ?? 0) + (run.counts.blocked ?? 0)
  if (!isWhole && isErrorCode(missing)) return
  const found = failures.map(({ errorCode, count }) => `${errorCode ?? 'no code'} (${count})`).join(', ') || 'none'
  throw new AppError('INTAKE_007', `No operation of run "${run.runId}" failed with ${missing}; its codes: ${found}.`)
}

/**
 * Cancels the retry when the former run was deleted, whose changes it could not use. Once the retry exists, the former run is
 * kept (delete-run.ts).
 */
async function expectStillThere(
  former: Pick<Run, 'projectId' | 'runId'>,
  retry: { runId: RunId; origin: EventOrigin },
  ledger: RetryDeps['ledger'],
): Promise<void> {
  try {
    await ledger.getRun(former.runId)
    if (await ledger.isBeingDeleted(former)) throw unknownRun(former.runId)
  } catch (error) {
    if (!hasCode(error, 'RUN_001')) throw error
    const { runId, origin } = retry
    await ledger.cancel(runId, { reason: error.message, errorCode: error.code, origin })
    throw error
  }
}

/** A run may also have ended before all its work was planned, or before its patch was composed. */
function hasUnfinished({ isPlanned, compositionKey, counts }: Run): boolean {
  return !isPlanned || compositionKey === null || notWell.some((status) => (counts[status] ?? 0) > 0)
}

/** The new run's id, or the one its idempotency key already stands for. */
async function idOf({ run, idempotencyKey: key }: Retry, request: RunRequest, deps: RetryDeps): Promise<RunId> {
  const runId = newRunId(Date.now())
  if (key === undefined) return runId
  const bodyHash = sha256(`retry\0${hashedJson(request)}`)
  const holder = await deps.idempotency.claim(run.projectId, key, { runId, bodyHash })
  if ('runId' in holder && holder.bodyHash === bodyHash) {
    await expectNotDeleted({ runId: holder.runId, projectId: run.projectId }, deps.ledger)
    return holder.runId
  }
  throw new AppError('INTAKE_005', 'This Idempotency-Key was used before with another request.')
}
